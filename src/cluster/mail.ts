import type { Transporter } from 'nodemailer'

type Deps = { settings: { smtpUrl: string; mailFrom: string } }

export type Message = {
  to: readonly string[]
  subject: string
  text: string
  /** The same for each try: the message's id is made of it, so that receivers can drop a second one. */
  key: string
  signal: AbortSignal
}

/** Why no message was sent, in a sentence for its sender. */
export class MailFailure extends Error {
  override name = 'MailFailure'
}

export type Mail = ReturnType<typeof createMail>

const CONNECT_MS = 10_000
const SILENCE_MS = 20_000
const MAX_SUBJECT = 500
const HOST = /@([^@>\s]+)>?\s*$/

/** Sends plain text. Nothing of a message reaches a file or an address: its text is text, and nothing else. */
export function createMail({ settings: { smtpUrl, mailFrom } }: Deps) {
  let transport: Transporter | null = null
  return {
    isConfigured: () => smtpUrl !== '' && mailFrom !== '',
    send,
    close: () => transport?.close(),
  }

  /** Throws {@link MailFailure}. Accepted by the server does not mean delivered. */
  async function send({ to, subject, text, key, signal }: Message): Promise<void> {
    if (smtpUrl === '' || mailFrom === '') {
      throw new MailFailure('This server sends no e-mail: SVC_SMTP_URL and SVC_MAIL_FROM are not set.')
    }
    signal.throwIfAborted()
    // Loaded with the first message: it would take 30 ms of a start.
    const { createTransport } = await import('nodemailer')
    transport ??= createTransport({
      url: smtpUrl,
      connectionTimeout: CONNECT_MS,
      greetingTimeout: CONNECT_MS,
      socketTimeout: SILENCE_MS,
      disableFileAccess: true,
      disableUrlAccess: true,
    })
    try {
      // One line: a subject with line breaks could add headers.
      await transport.sendMail({
        from: mailFrom,
        to: [...to],
        subject: subject
          .replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ')
          .trim()
          .slice(0, MAX_SUBJECT),
        text,
        messageId: `<${key}@${HOST.exec(mailFrom)?.[1] ?? 'svc.invalid'}>`,
      })
    } catch (error) {
      // The reply code of the server; its words may tell of other customers.
      const { responseCode, code } = error as { responseCode?: unknown; code?: unknown }
      const message = responseCode ?? code
      throw new MailFailure(
        `The mail server did not take the message${message === undefined ? '' : ` (${String(message)})`}.`,
      )
    }
  }
}
