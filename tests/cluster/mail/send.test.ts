import { afterAll, describe, expect, test } from 'bun:test'
import { createMail, MailFailure } from '../../../src/cluster'
import { mailServer } from '../../support/mail-server'

const { received, state, config } = await mailServer()
const mail = createMail({ settings: config })
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
    state.refuses = true
    const failure = await mail.send(message()).catch((error: unknown) => error)
    state.refuses = false
    expect(failure).toBeInstanceOf(MailFailure)
    expect((failure as Error).message).toBe('The mail server did not take the message (550).')
  })

  test('is not sent without a server', async () => {
    const none = createMail({ settings: { smtpUrl: '', mailFrom: '' } })
    expect(await none.send(message()).catch((error: Error) => error.message)).toContain('SVC_SMTP_URL')
  })
})
