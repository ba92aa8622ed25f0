import com.sun.net.httpserver.HttpServer;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Keeps a few hundred thousand things in memory and makes a page of some for each request. Usage: Server ADDRESS PORT */
public class Server {
	public static void main(String[] arguments) throws Exception {
		Map<Integer, String> things = new HashMap<>();
		for (int number = 0; number < 190_000; number++)
			things.put(number, "thing " + number);
		var server = HttpServer.create(new InetSocketAddress(arguments[0], Integer.parseInt(arguments[1])), 0);
		server.createContext("/", exchange -> {
			List<String> lines = new ArrayList<>();
			for (int number = 0; number < 5_000; number++)
				lines.add(things.get(number) + ", as new");
			byte[] answer = String.join("\n", lines).getBytes(StandardCharsets.UTF_8);
			exchange.sendResponseHeaders(200, answer.length);
			try (var body = exchange.getResponseBody()) {
				body.write(answer);
			}
		});
		server.start();
	}
}
