import type { OperatorRole } from '../kernel/caller'
import { defineError, messageOf, quoted } from '../kernel/errors'

/** The same response for every invalid credential, whatever the reason. */
export const notAnOperator = defineError(
  'invalid_api_key',
  () =>
    'The operator API needs the header Authorization: Bearer svc_op_… with a working key. This one is missing, mistyped, revoked or expired. ' +
    "Create one with svc-admin operators add on the server's machine.",
)

export const noOperatorRole = defineError(
  'forbidden',
  () => 'Your account has no operator role. An operator can give it one: svc-admin users create, or the operator API.',
)

export const notFromConsole = defineError(
  'origin_not_allowed',
  () => 'Here the operator API is for the console alone: a page of this server, signed in by its cookie.',
)

export const roleTooSmall = defineError(
  'forbidden',
  (role: OperatorRole, route: string, isContent: boolean) =>
    `The role ${role} cannot ${route}. ` +
    (isContent
      ? 'It shows what people wrote, or a link. Ask an operator with the role support.'
      : 'Ask an operator with another role.'),
)

export const operatorNotFound = defineError(
  'not_found',
  (ref: string) => `No operator key "${quoted(ref)}". svc-admin operators list shows them.`,
)

export const ambiguousOperator = defineError(
  'validation_error',
  (word: string, names: string[]) =>
    `"${word}" matches ${names.length} operator keys: ${names.join(', ')}. Send more characters of the name.`,
)

export const traceNotFound = defineError(
  'not_found',
  (ref: string) =>
    `The request "${quoted(ref)}" was not found: no running process remembers it. svc-admin logs lists requests; for older ones name the owner and --since.`,
)

export const operatorRevoked = defineError(
  'conflict',
  (name: string) => `Operator key "${name}" is revoked, which cannot be undone. Add a new one.`,
)

export const nameTaken = defineError(
  'conflict',
  (name: string) => `An operator key "${name}" already exists. Choose another name, or revoke that one first.`,
)

export const endInThePast = defineError(
  'validation_error',
  (at: string) => `"expires_at" is ${messageOf(at)}, which is not in the future. Send a later time, or leave it out.`,
)
