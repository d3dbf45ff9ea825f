import { defineError, quoted } from '../kernel/errors'

export const userNotFound = defineError(
  'missing',
  'not_found',
  (ref: string) =>
    `No account "${quoted(ref)}". Send an id or e-mail address, or create it: svc-admin users create EMAIL`,
)

export const sessionNotFound = defineError(
  'missing',
  'not_found',
  () => 'This account has no open session with this id. List them: svc-admin users sessions list USER',
)

export const userIsDisabled = defineError(
  'conflict',
  'conflict',
  (email: string) => `The account ${email} is disabled. Enable it first: svc-admin users enable ${email}`,
)

export const linkForAdmins = defineError(
  'forbidden',
  'forbidden',
  (email: string) =>
    `The account ${email} has a platform role. Only an operator with the role admin can create links for it.`,
)
