<?php
// A page for a visitor who is known: what takes long is done while the session is open.
function render() {
    usleep(10000);
    return "hello\n";
}
session_start();
$_SESSION['pages'] = ($_SESSION['pages'] ?? 0) + 1;
echo render();
