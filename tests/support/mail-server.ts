import { afterAll } from 'bun:test'
import { SMTPServer } from 'smtp-server'

/** A mail server on loopback that keeps what it is sent; with `refuses` it takes no receiver. */
export async function mailServer() {
  const received: string[] = []
  const state = { refuses: false }
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS'],
    onRcptTo: (_, __, done) =>
      done(state.refuses ? Object.assign(new Error('5.1.1 customer 4711 unknown'), { responseCode: 550 }) : null),
    onData(stream, _, done) {
      let text = ''
      stream.on('data', (piece: Buffer) => {
        text += piece.toString()
      })
      stream.on('end', () => {
        received.push(text)
        done()
      })
    },
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  afterAll(() => new Promise<void>((resolve) => server.close(() => resolve())))
  const { port } = server.server.address() as { port: number }
  const config = { smtpUrl: `smtp://127.0.0.1:${port}`, mailFrom: 'svc <noreply@example.com>' }
  return { received, state, config }
}
