import { defineError, quoted } from '../kernel/errors'

export const userNotFound = defineError(
  'missing',
  'not_found',
  (ref: string) =>
    `No account "${quoted(ref)}". Name one by id or e-mail address, or make it: svc-admin users create EMAIL`,
)

export const sessionNotFound = defineError(
  'missing',
  'not_found',
  () => 'No open session with this id of this account. List them: svc-admin users sessions list USER',
)
