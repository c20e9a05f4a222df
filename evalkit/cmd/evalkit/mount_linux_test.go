package main

import "syscall"

// mount makes dir a file system of 2 MB in memory.
func mount(dir string) error { return syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=2m") }

func unmount(dir string) error { return syscall.Unmount(dir, 0) }
