//! What came with Java, and what a program brought along: by packages, for no other may have classes in those of the platform's.

use case::tables::{Location, kind, module};

/// How the platform's packages begin.
const PLATFORM: [&str; 5] = ["java.", "javax.", "jdk.", "sun.", "com.sun."];

/// The package in which threads begin.
const THREADS: &str = "java.lang";

/// Whether a place is in a method of Java's.
pub fn is_of_java(location: &Location) -> bool {
    location.kind == kind::GENERATED && location.module == module::JAVA
}

/// Whether such a method came with Java, or was made as the program ran.
pub fn is_own(location: &Location) -> bool {
    location.file.is_empty() || PLATFORM.iter().any(|package| location.function.starts_with(package))
}

/// Where in a stack of which all methods came with Java the thread's own package hands over to others: an executor that waits for
/// work, a server that waits for connections.
pub fn hands_over(frames: &[&Location]) -> Option<usize> {
    let of_java = || frames.iter().enumerate().filter(|(_, frame)| is_of_java(frame));
    let (outermost, _) =
        of_java().rfind(|(_, frame)| package(&frame.function) != THREADS).or_else(|| of_java().last())?;
    let own = package(&frames[outermost].function);
    let is_inside = |frame: &&&Location| is_of_java(frame) && package(&frame.function) == own;
    Some(outermost + 1 - frames[..=outermost].iter().rev().take_while(is_inside).count())
}

/// The package of a method: `java.util` of `java.util.HashMap.get`.
fn package(function: &str) -> &str {
    let class = function.rsplit_once('.').map_or("", |(class, _)| class);
    class.rsplit_once('.').map_or("", |(package, _)| package)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn method(function: &str, file: &str) -> Location {
        let (module, function, file) = (module::JAVA.to_string(), function.to_string(), file.to_string());
        Location { kind: kind::GENERATED, module, function, file, line: 7, ..Location::default() }
    }

    #[test]
    fn the_platforms_methods_are_told_from_the_programs() {
        let own = |function, file| is_own(&method(function, file));
        assert!(own("java.lang.Thread.sleep", "java/lang/Thread.java"));
        assert!(own("com.sun.net.httpserver.HttpServer.create", "com/sun/net/httpserver/HttpServer.java"));
        assert!(own("Shop$Proxy.price", ""), "made as the program ran");
        assert!(!own("Shop.price", "Shop.java"));
        assert!(!own("javassist.ClassPool.get", "javassist/ClassPool.java"));
        assert!(!own("com.sunrise.Shop.price", "com/sunrise/Shop.java"));
    }

    #[test]
    fn a_thread_of_the_platforms_is_where_its_package_hands_over() {
        let functions = [
            "java.util.concurrent.locks.LockSupport.park",
            "java.util.concurrent.LinkedBlockingQueue.take",
            "java.util.concurrent.ThreadPoolExecutor.getTask",
            "java.lang.Thread.run",
        ];
        let methods = functions.map(|function| method(function, "X.java"));
        let native = Location { module: "libjvm.so".to_string(), ..Location::default() };
        let frames = std::iter::once(&native).chain(&methods).chain([&native]).collect::<Vec<_>>();
        assert_eq!(hands_over(&frames), Some(2));
        assert_eq!(hands_over(&[&native, &methods[3], &native]), Some(1), "a thread that only begins");
        assert_eq!(hands_over(&[&native]), None);
    }
}
