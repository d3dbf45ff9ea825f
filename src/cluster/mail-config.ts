import { setting } from '../kernel/config'
import { form } from '../kernel/form'
import { t } from '../kernel/schema'

/** Settings of the mail module. */
export const mailSettings = {
  smtpUrl: setting({
    env: 'SVC_SMTP_URL',
    schema: t.String({ pattern: form('^$|^smtps?://', 'an address that begins with smtp:// or smtps://, or empty') }),
    default: '',
    about: 'Server that sends e-mail, such as smtps://user:password@mail.example:465. Without it no mail is sent.',
    secret: true,
  }),
  mailFrom: setting({
    env: 'SVC_MAIL_FROM',
    schema: t.String({ maxLength: 320 }),
    default: '',
    about: 'Sender address of e-mail, such as svc <noreply@example.com>; needed with SVC_SMTP_URL.',
  }),
}
