import type { OperatorRole } from '../kernel/caller'
import { defineError, defineErrors, messageOf, quoted } from '../kernel/errors'

export const operatorErrors = {
  ...defineErrors('invalid_api_key', {
    /** The same response for every invalid credential, whatever the reason. */
    notAnOperator:
      'The operator API needs the header Authorization: Bearer svc_op_… with a working key. This one is missing, mistyped, revoked or expired. ' +
      "Create one with svc-admin operators add on the server's machine.",
  }),
  ...defineErrors('forbidden', {
    noOperatorRole:
      'Your account has no operator role. An operator can give it one: svc-admin users create, or the operator API.',
  }),
  ...defineErrors('origin_not_allowed', {
    notFromConsole: 'Here the operator API is for the console alone: a page of this server, signed in by its cookie.',
  }),
  ...defineErrors('not_found', {
    operatorNotFound: (ref: string) => `No operator key "${quoted(ref)}". svc-admin operators list shows them.`,
    traceNotFound: (ref: string) =>
      `The request "${quoted(ref)}" was not found: no running process remembers it. svc-admin logs show lists requests; for older ones name the owner and --since.`,
  }),
  ...defineErrors('validation_error', {
    ambiguousOperator: (word: string, names: string[]) =>
      `"${word}" matches ${names.length} operator keys: ${names.join(', ')}. Send more characters of the name.`,
    endInThePast: (at: string) =>
      `"expires_at" is ${messageOf(at)}, which is not in the future. Send a later time, or leave it out.`,
  }),
  ...defineErrors('conflict', {
    operatorRevoked: (name: string) => `Operator key "${name}" is revoked, which cannot be undone. Add a new one.`,
    nameTaken: (name: string) =>
      `An operator key "${name}" already exists. Choose another name, or revoke that one first.`,
  }),
}

export const roleTooSmall = defineError(
  'forbidden',
  (role: OperatorRole, route: string, isContent: boolean) =>
    `The role ${role} cannot ${route}. ` +
    (isContent
      ? 'It shows what people wrote, or a link. Ask an operator with the role support.'
      : 'Ask an operator with another role.'),
)
