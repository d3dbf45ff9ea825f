import { connect } from 'node:net'

/** Sockets from one address that drip a body; each comes again as slowly as it drips. For tests/chaos/flood.ts. */
const [port, address, count, shape] = process.argv.slice(2) as [string, string, string, string]
const DRIP_MS = 15_000
const AGAIN_MS = 15_000
const BATCH = 100

const body = shape === 'heavy' ? '{'.padEnd(240_000) : '{ '
const length = shape === 'heavy' ? 250_000 : 900
const first = `POST /api/v1/auth/sessions HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: ${length}\r\n\r\n${body}`

let open = 0
function dripping(): void {
  const socket = connect({ port: Number(port), host: '127.0.0.1', localAddress: address }, () => {
    open += 1
    socket.write(first)
    socket.once('close', () => {
      open -= 1
    })
  })
  const drip = setInterval(() => socket.write(' '), DRIP_MS)
  socket.on('error', () => undefined)
  socket.on('data', () => undefined)
  socket.once('close', () => {
    clearInterval(drip)
    setTimeout(dripping, AGAIN_MS)
  })
}

for (let made = 0; made < Number(count); made += BATCH) {
  for (let n = 0; n < BATCH; n++) dripping()
  await Bun.sleep(100)
}
setInterval(() => process.stdout.write(`${open}\n`), 1_000)
