/** Mail: e-mail to people, through the operator's SMTP server. */
export { createMail, type Mail, MailFailure } from './service'
