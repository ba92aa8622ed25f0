// Command client posts 80 bytes, again and again, over one HTTP connection; it prints once a second how often.
//
// Usage: client ADDRESS PORT SECONDS [nodelay]
//
// Go sets TCP_NODELAY on every connection; this program takes it back, as programs do that mean to send few and large
// packets, and then writes the head and the body separately. With nodelay it is left as Go has it.
package main

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"
)

const head = "POST / HTTP/1.1\r\nHost: casebook.test\r\nContent-Length: 80\r\n\r\n"

var body = strings.Repeat("x", 80)

func main() {
	connection, err := net.Dial("tcp", net.JoinHostPort(os.Args[1], os.Args[2]))
	if err != nil {
		panic(err)
	}
	if len(os.Args) < 5 {
		if err := connection.(*net.TCPConn).SetNoDelay(false); err != nil {
			panic(err)
		}
	}
	seconds, err := strconv.Atoi(os.Args[3])
	if err != nil {
		panic(err)
	}
	answers := bufio.NewReader(connection)
	end := time.Now().Add(time.Duration(seconds) * time.Second)
	second, count := time.Now().Add(time.Second), 0
	for time.Now().Before(end) {
		post(connection, answers)
		count++
		if !time.Now().Before(second) {
			fmt.Println(count)
			second, count = second.Add(time.Second), 0
		}
	}
}

func post(connection net.Conn, answers *bufio.Reader) {
	write(connection, head)
	write(connection, body) // casebook: the second write
	response, err := http.ReadResponse(answers, nil)
	if err != nil {
		panic(err)
	}
	if _, err := io.Copy(io.Discard, response.Body); err != nil || response.StatusCode != http.StatusOK {
		panic(response.Status)
	}
	response.Body.Close()
}

func write(connection net.Conn, text string) {
	if _, err := io.WriteString(connection, text); err != nil {
		panic(err)
	}
}
