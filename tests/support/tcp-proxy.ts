import { afterAll } from 'bun:test'
import { connect, createServer, type Socket } from 'node:net'

/** A TCP proxy before a server of this machine, which can break its connections, or leave them half open. */
export async function startTcpProxy(target: { hostname: string; port: number }) {
  const pairs = new Set<[Socket, Socket]>()
  const listening = new Set<[Socket, Socket]>()
  let cut = false
  let severed = false
  let losesCommits = false
  const server = createServer((near) => {
    if (severed) return void near.destroy()
    const far = connect({ host: target.hostname, port: target.port })
    const pair: [Socket, Socket] = [near, far]
    pairs.add(pair)
    for (const [from, to] of [pair, pair.toReversed() as [Socket, Socket]]) {
      from.on('data', (bytes) => void to.write(bytes))
      from.on('error', () => to.destroy())
      from.on('close', () => {
        to.destroy()
        pairs.delete(pair)
        listening.delete(pair)
      })
    }
    near.on('data', (bytes) => void (bytes.includes('LISTEN') && listening.add(pair)))
    near.on('data', (bytes) => {
      if (!losesCommits || !bytes.includes('COMMIT')) return
      // It is done, and nobody hears of it.
      far.removeAllListeners('data').once('data', () => near.destroy())
    })
    if (cut) silence(pair)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const restore = () => {
    cut = false
    severed = false
  }
  const breakAll = () => {
    for (const pair of pairs) for (const socket of pair) socket.destroy()
  }
  const close = async () => {
    breakAll()
    await new Promise((resolve) => server.close(resolve))
  }
  afterAll(close)
  return {
    port: (server.address() as { port: number }).port,
    /** Existing connections stay open and carry nothing any more, in either direction; new ones work. */
    halve: () => {
      for (const pair of pairs) silence(pair)
    },
    /** The same for those on which Postgres was asked to notify. Returns how many. */
    halveListeners: () => {
      for (const pair of listening) silence(pair)
      return listening.size
    },
    /** From here on a connection breaks after its COMMIT has reached the server, before the answer comes back. */
    loseCommits: (yes: boolean) => {
      losesCommits = yes
    },
    /** The same for new ones too, until `restore`; what was cut stays so. */
    cut: () => {
      cut = true
      for (const pair of pairs) silence(pair)
    },
    /** Existing connections break, and new ones are closed at once, until `restore`. */
    sever: () => {
      severed = true
      breakAll()
    },
    restore,
  }
}

/** Neither end hears of the other any more, nor that it closed. */
function silence(pair: [Socket, Socket]): void {
  for (const socket of pair) socket.removeAllListeners('data').removeAllListeners('close').resume()
}
