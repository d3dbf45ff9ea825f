import { createServer } from 'node:net'

/** Below those that systems give to outgoing connections: nothing takes one between the look and its use by chance. */
const PORTS = { from: 15_000, to: 32_000 }

/** A free loopback port, for programs that must be told their port before they start. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = PORTS.from + Math.floor(Math.random() * (PORTS.to - PORTS.from))
    if (await isFree(port)) return port
  }
}

const isFree = (port: number) =>
  new Promise<boolean>((resolve) => {
    const probe = createServer().once('error', () => resolve(false))
    probe.listen(port, '127.0.0.1', () => probe.close(() => resolve(true)))
  })
