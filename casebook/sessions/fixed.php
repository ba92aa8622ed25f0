<?php
// A page for a visitor who is known: the session is closed before what takes long begins.
function render() {
    usleep(10000);
    return "hello\n";
}
session_start();
$_SESSION['pages'] = ($_SESSION['pages'] ?? 0) + 1;
session_write_close();
echo render();
