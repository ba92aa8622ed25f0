import com.sun.net.httpserver.HttpServer;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Keeps some hundred thousand things in memory and makes a page of a few for each request. Usage: Server ADDRESS PORT [tidy] */
public class Server {
	public static void main(String[] arguments) throws Exception {
		boolean isTidy = arguments.length > 2;
		Map<Integer, String> things = new HashMap<>();
		for (int number = 0; number < 300_000; number++)
			things.put(number, "thing " + number);
		var server = HttpServer.create(new InetSocketAddress(arguments[0], Integer.parseInt(arguments[1])), 0);
		server.createContext("/", exchange -> {
			List<String> lines = new ArrayList<>();
			for (int number = 0; number < 500; number++)
				lines.add(things.get(number) + ", as new");
			byte[] answer = String.join("\n", lines).getBytes(StandardCharsets.UTF_8);
			if (isTidy)
				System.gc(); // casebook: leaves the heap tidy
			exchange.sendResponseHeaders(200, answer.length);
			try (var body = exchange.getResponseBody()) {
				body.write(answer);
			}
		});
		server.start();
	}
}
