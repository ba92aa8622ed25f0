// Signs each line that it is sent, each connection in a goroutine of its own. Usage: server ADDRESS
package main

import (
	"bufio"
	"crypto/sha256"
	"log"
	"net"
	"os"
)

const rounds = 10000

func signed(line []byte) []byte {
	sum := sha256.Sum256(line)
	for round := 0; round < rounds; round++ {
		sum = sha256.Sum256(sum[:]) // casebook: signs
	}
	return sum[:]
}

func serve(connection net.Conn) {
	defer connection.Close()
	lines := bufio.NewReader(connection)
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return
		}
		if _, err := connection.Write(signed(line)); err != nil {
			return
		}
	}
}

func main() {
	listener, err := net.Listen("tcp", os.Args[1])
	if err != nil {
		log.Fatal(err)
	}
	for {
		connection, err := listener.Accept()
		if err != nil {
			log.Fatal(err)
		}
		go serve(connection)
	}
}
