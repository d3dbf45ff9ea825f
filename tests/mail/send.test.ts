import { afterAll, describe, expect, test } from 'bun:test'
import { SMTPServer } from 'smtp-server'
import { createMail, MailFailure } from '../../src/mail'

const received: string[] = []
let refuses = false
/** A mail server on loopback that keeps what it is sent. */
const server = new SMTPServer({
  authOptional: true,
  disabledCommands: ['STARTTLS'],
  onRcptTo: (_, __, done) =>
    done(refuses ? Object.assign(new Error('5.1.1 customer 4711 unknown'), { responseCode: 550 }) : null),
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
const mail = createMail({ settings: { smtpUrl: `smtp://127.0.0.1:${port}`, mailFrom: 'svc <noreply@example.com>' } })
afterAll(() => mail.close())

const message = (more: object = {}) => ({
  to: ['ada@example.com'],
  subject: 'Tides',
  text: 'They turn.',
  key: 'run-1-0',
  signal: new AbortController().signal,
  ...more,
})

describe('a message', () => {
  test('is sent as plain text, with an id that is the same for each try', async () => {
    await mail.send(message({ to: ['ada@example.com', 'bob@example.com'] }))
    const [text] = received
    expect(text).toContain('From: svc <noreply@example.com>')
    expect(text).toContain('To: ada@example.com, bob@example.com')
    expect(text).toContain('Message-ID: <run-1-0@example.com>')
    expect(text).toContain('Content-Type: text/plain')
    expect(text).toContain('They turn.')
  })

  test('has no header more, whatever its subject says', async () => {
    await mail.send(message({ subject: 'Hi\r\nBcc: eve@example.com\u2028X: y' }))
    expect(received.at(-1)).not.toMatch(/^(Bcc|X):/m)
    expect(received.at(-1)).toContain('Subject: Hi Bcc: eve@example.com X: y')
  })

  test('that the server refuses fails without its words', async () => {
    refuses = true
    const failure = await mail.send(message()).catch((error: unknown) => error)
    refuses = false
    expect(failure).toBeInstanceOf(MailFailure)
    expect((failure as Error).message).toBe('The mail server did not take the message (550).')
  })

  test('is not sent without a server', async () => {
    const none = createMail({ settings: { smtpUrl: '', mailFrom: '' } })
    expect(await none.send(message()).catch((error: Error) => error.message)).toContain('SVC_SMTP_URL')
  })
})
