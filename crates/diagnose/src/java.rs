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
        of_java().rfind(|(_, frame)| package(&frame.function) != THREADS).or_else(|| of_java().next_back())?;
    let own = package(&frames[outermost].function);
    let is_inside = |frame: &&&Location| is_of_java(frame) && package(&frame.function) == own;
    Some(outermost + 1 - frames[..=outermost].iter().rev().take_while(is_inside).count())
}

/// What a thread waits for that Java has put to sleep.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Awaited {
    /// A lock.
    Lock,
    /// A permit of a semaphore.
    Permit,
    /// What others put into a queue, or tell by a condition.
    Element,
    /// What another thread works out, or that others have come as far.
    Result,
}

/// The one method by which all of `java.util.concurrent` puts threads to sleep.
const PARKS: &str = "jdk.internal.misc.Unsafe.park";

/// The method in which a thread waits to be told by another one that has the monitor: `wait`, or `wait0` that it calls.
const WAITS: &str = "java.lang.Object.wait";

/// The method in which a thread sleeps: `sleep`, or `sleep0` and `sleepNanos0` that it calls since JDK 21.
const SLEEPS: &str = "java.lang.Thread.sleep";

/// What HotSpot's functions are called in which a thread waits for a monitor.
const MONITORS: [&str; 3] = ["ObjectMonitor::enter", "monitorenter", "complete_monitor_locking"];

/// What stands between that and the class that somebody waits with: it is the same for all of them.
const BETWEEN: [&str; 4] = [
    "java.util.concurrent.locks.LockSupport.",
    "java.util.concurrent.locks.AbstractQueuedSynchronizer",
    "java.util.concurrent.locks.AbstractQueuedLongSynchronizer",
    "java.util.concurrent.ForkJoinPool.",
];

/// The classes.
const LOCKS: [&str; 2] = ["java.util.concurrent.locks.Reentrant", "java.util.concurrent.locks.StampedLock"];
const SEMAPHORE: &str = "java.util.concurrent.Semaphore";
const RESULTS: [&str; 6] = [
    "java.util.concurrent.FutureTask",
    "java.util.concurrent.CompletableFuture",
    "java.util.concurrent.CountDownLatch",
    "java.util.concurrent.CyclicBarrier",
    "java.util.concurrent.Phaser",
    "java.util.concurrent.ForkJoinTask",
];

/// Whether a stack, innermost first, is that of a thread that sleeps: HotSpot lets a wait for another thread time out.
pub fn sleeps<'l>(mut frames: impl Iterator<Item = &'l Location>) -> bool {
    frames.find(|frame| is_of_java(frame)).is_some_and(|innermost| innermost.function.starts_with(SLEEPS))
}

/// What a thread waits for in a stack, innermost first; none where Java has not put it to sleep.
pub fn awaited<'l>(mut frames: impl Iterator<Item = &'l Location>) -> Option<Awaited> {
    let mut in_monitor = false;
    let innermost = loop {
        let frame = frames.next()?;
        if is_of_java(frame) {
            break frame.function.as_str();
        }
        in_monitor |= MONITORS.iter().any(|name| frame.function.contains(name));
    };
    if innermost.starts_with(WAITS) {
        return Some(Awaited::Element);
    }
    if innermost != PARKS {
        return in_monitor.then_some(Awaited::Lock);
    }
    let mut methods = frames.filter(|frame| is_of_java(frame)).map(|frame| frame.function.as_str());
    let begins = |all: &[&str], method: &str| all.iter().any(|start| method.starts_with(start));
    let class = methods.find(|method| !begins(&BETWEEN, method))?;
    Some(match class {
        _ if begins(&LOCKS, class) => Awaited::Lock,
        _ if class.starts_with(SEMAPHORE) => Awaited::Permit,
        _ if begins(&RESULTS, class) => Awaited::Result,
        _ => Awaited::Element,
    })
}

/// The package of a method: `java.util` of `java.util.HashMap.get`.
pub fn package(function: &str) -> &str {
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

    #[test]
    fn a_thread_that_sleeps_is_told_by_its_innermost_method() {
        let native = Location { module: "libjvm.so".to_string(), ..Location::default() };
        let stack = |function| [native.clone(), method(function, "X.java"), method("Shop.poll", "Shop.java")];
        assert!(sleeps(stack("java.lang.Thread.sleep0").iter()));
        assert!(!sleeps(stack(PARKS).iter()) && !sleeps([native.clone()].iter()));
    }

    #[test]
    fn what_a_thread_waits_for_is_told_by_the_class_that_it_waits_with() {
        let of = |class: &str| {
            let functions = [
                PARKS,
                "java.util.concurrent.locks.LockSupport.park",
                "java.util.concurrent.locks.AbstractQueuedSynchronizer$ConditionObject.await",
                class,
                "java.util.concurrent.locks.ReentrantLock.lock",
            ];
            let methods = functions.map(|function| method(function, "X.java"));
            awaited(methods.iter())
        };
        assert_eq!(of("java.util.concurrent.locks.ReentrantReadWriteLock$ReadLock.lock"), Some(Awaited::Lock));
        assert_eq!(of("java.util.concurrent.Semaphore.acquire"), Some(Awaited::Permit));
        assert_eq!(of("java.util.concurrent.LinkedBlockingDeque.takeFirst"), Some(Awaited::Element));
        assert_eq!(of("acme.Pool.borrow"), Some(Awaited::Element));
        assert_eq!(of("java.util.concurrent.FutureTask.awaitDone"), Some(Awaited::Result));
        let native = Location { function: "pthread_cond_wait".to_string(), ..Location::default() };
        let told = method("java.lang.Object.wait", "Object.java");
        assert_eq!(awaited([&native, &told].into_iter()), Some(Awaited::Element));
        let enters = Location { function: "InterpreterRuntime::monitorenter".to_string(), ..Location::default() };
        let own = method("Shop.order", "Shop.java");
        assert_eq!(awaited([&native, &enters, &own].into_iter()), Some(Awaited::Lock));
        assert_eq!(awaited([&native, &own, &enters].into_iter()), None, "an outer one has entered");
        assert_eq!(awaited([&native, &method("java.lang.Thread.sleep", "Thread.java")].into_iter()), None);
        assert_eq!(awaited([&native].into_iter()), None);
    }
}
