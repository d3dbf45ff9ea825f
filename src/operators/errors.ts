import type { OperatorRole } from '../kernel/caller'
import { defineError, quoted, said } from '../kernel/errors'

/** The same answer for every credential that does not work, whatever the reason. */
export const notAnOperator = defineError(
  'unauthenticated',
  'invalid_api_key',
  () =>
    'The operator plane wants Authorization: Bearer svc_op_… and a key that is neither mistyped, revoked nor expired. ' +
    "Make one with svc-admin operators add on the server's machine.",
)

export const roleTooSmall = defineError(
  'forbidden',
  'forbidden',
  (role: OperatorRole, route: string) => `The role ${role} may not ${route}. An operator with another role can.`,
)

export const operatorNotFound = defineError(
  'missing',
  'not_found',
  (ref: string) => `No operator key "${quoted(ref)}". svc-admin operators list shows them.`,
)

export const ambiguousOperator = defineError(
  'invalid',
  'validation_error',
  (word: string, names: string[]) => `"${word}" could be ${names.length} operator keys: ${names.join(', ')}.`,
)

export const operatorRevoked = defineError(
  'conflict',
  'conflict',
  (name: string) => `Operator key "${name}" is revoked, which is for good. Add another.`,
)

export const nameTaken = defineError(
  'conflict',
  'conflict',
  (name: string) => `There is an operator key "${name}" already. Choose another name, or revoke that one first.`,
)

export const endInThePast = defineError(
  'invalid',
  'validation_error',
  (at: string) => `"expires_at" is ${said(at)}, which is not in the future.`,
)
