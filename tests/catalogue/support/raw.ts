import { connect, type Socket } from 'node:net'

export type RawAnswer = {
  /** Status of each answer on the connection, in order. */
  statuses: number[]
  text: string
  /** The server closed the connection before the patience ran out. */
  closed: boolean
}

/** Until the first byte: a busy server is not a silent one. */
const FIRST_MS = 10_000
/** After the last byte: what has not come by then does not come. */
const MORE_MS = 1_500

/**
 * Writes bytes to a fresh connection as they are, and reads until it is closed, until `answers` whole
 * answers have come, or until nothing more comes.
 */
export async function sendRaw(
  port: number,
  bytes: string | Uint8Array,
  answers = Number.POSITIVE_INFINITY,
): Promise<RawAnswer> {
  const socket = connect({ port, host: '127.0.0.1' })
  let text = ''
  let closed = false
  await new Promise<void>((done) => {
    let patience = setTimeout(done, FIRST_MS)
    const finish = () => {
      clearTimeout(patience)
      done()
    }
    socket.on('data', (chunk) => {
      text += chunk.toString('latin1')
      clearTimeout(patience)
      patience = setTimeout(done, Number.isFinite(answers) ? FIRST_MS : MORE_MS)
      if (countWhole(text) >= answers) finish()
    })
    socket.on('error', () => undefined)
    socket.on('close', () => {
      closed = true
      finish()
    })
    socket.write(bytes)
  })
  socket.destroy()
  return { statuses: statusesOf(text), text, closed }
}

/** A request head, without the blank line. */
export const head = (line: string, ...headers: string[]): string => [line, 'Host: localhost', ...headers].join('\r\n')

/** A whole request that asks for the connection to be closed after it. */
export const whole = (line: string, ...headers: string[]): string =>
  `${head(line, ...headers, 'Connection: close')}\r\n\r\n`

export const open = (port: number): Promise<Socket> =>
  new Promise((ready, failed) => {
    const socket = connect({ port, host: '127.0.0.1' }, () => {
      socket.off('error', failed)
      socket.on('error', () => undefined)
      ready(socket)
    })
    socket.once('error', failed)
  })

const statusesOf = (text: string): number[] =>
  [...text.matchAll(/HTTP\/1\.[01] (\d{3})/g)].map(([, status]) => Number(status))

/** Answers whose declared length has arrived. */
function countWhole(text: string): number {
  let count = 0
  for (let at = 0; at < text.length; ) {
    const end = text.indexOf('\r\n\r\n', at)
    if (end < 0) break
    const length = Number(/content-length: (\d+)/i.exec(text.slice(at, end))?.[1] ?? 0)
    if (text.length < end + 4 + length) break
    at = end + 4 + length
    count += 1
  }
  return count
}
