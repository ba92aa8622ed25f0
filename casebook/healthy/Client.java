import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;

/** Fetches a page again and again over one kept connection. Usage: java Client.java URL REQUESTS */
public class Client {
    public static void main(String[] arguments) throws Exception {
        int requests = Integer.parseInt(arguments[1]);
        HttpClient client = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
        HttpRequest request = HttpRequest.newBuilder(URI.create(arguments[0])).build();
        for (int count = 0; count < requests; count++) {
            HttpResponse<String> response = client.send(request, HttpResponse.BodyHandlers.ofString());
            if (response.statusCode() != 200) throw new IllegalStateException("the server answered " + response.statusCode());
        }
        System.out.println(requests + " requests");
    }
}
