import type { Transporter } from 'nodemailer'
import { beginningOf } from '../kernel/text'

export type Message = {
  to: readonly string[]
  subject: string
  text: string
  /** Stays the same across retries. The message id derives from it, so that receivers can drop duplicates. */
  key: string
  signal: AbortSignal
}

/** Says in a sentence for the sender why no message was sent. */
export class MailFailure extends Error {
  override name = 'MailFailure'
}

export type Mail = ReturnType<typeof createMail>

const CONNECT_MS = 10_000
const SILENCE_MS = 20_000
const MAX_SUBJECT = 500
const HOST = /@([^@>\s]+)>?\s*$/

/** Sends plain text. A message cannot name files or add addresses and headers. */
export function createMail({ settings: { smtpUrl, mailFrom } }: { settings: { smtpUrl: string; mailFrom: string } }) {
  let transport: Transporter | null = null
  return {
    isConfigured: () => smtpUrl !== '' && mailFrom !== '',
    send,
    close: () => transport?.close(),
  }

  /** Throws {@link MailFailure}. The mail server has accepted the message then, which does not mean it is delivered. */
  async function send({ to, subject, text, key, signal }: Message): Promise<void> {
    if (smtpUrl === '' || mailFrom === '') {
      throw new MailFailure('This server sends no e-mail: SVC_SMTP_URL and SVC_MAIL_FROM are not set.')
    }
    signal.throwIfAborted()
    // Loaded with the first message, because it would add 30 ms to each start.
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
      // In one line, because a line break in the subject could add headers.
      await transport.sendMail({
        from: mailFrom,
        to: [...to],
        subject: beginningOf(subject.replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ').trim(), MAX_SUBJECT),
        text,
        messageId: `<${key}@${HOST.exec(mailFrom)?.[1] ?? 'svc.invalid'}>`,
      })
    } catch (error) {
      // Only the reply code: the server's text may name other customers.
      const { responseCode, code } = error as { responseCode?: unknown; code?: unknown }
      const replyCode = responseCode ?? code
      throw new MailFailure(
        `The mail server did not take the message${replyCode === undefined ? '' : ` (${String(replyCode)})`}.`,
      )
    }
  }
}
