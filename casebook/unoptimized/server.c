/* Answers each line with "noted", after it has made a signature of it in many rounds. Usage: server ADDRESS PORT */
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

enum { ROUNDS = 40000 };

static uint32_t sign(const char *text, int length)
{
    uint32_t state = 2166136261u;
    for (int round = 0; round < ROUNDS; round++)
        for (int i = 0; i < length; i++)
            state = (state ^ text[i]) * 16777619u;
    return state;
}

int main(int count, char **words)
{
    if (count < 3)
        return 2;
    int one = 1, listener = socket(AF_INET, SOCK_STREAM, 0);
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(atoi(words[2]))};
    inet_pton(AF_INET, words[1], &address.sin_addr);
    setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    if (bind(listener, (struct sockaddr *)&address, sizeof address) || listen(listener, 16))
        return 1;
    for (;;) {
        char text[256];
        int length, connection = accept(listener, NULL, NULL);
        volatile uint32_t signature = 0;
        setsockopt(connection, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
        while ((length = read(connection, text, sizeof text)) > 0) {
            signature += sign(text, length);
            if (write(connection, "noted\n", 6) != 6)
                break;
        }
        close(connection);
    }
}
