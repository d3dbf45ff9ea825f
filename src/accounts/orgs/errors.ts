import { defineError, quoted } from '../../kernel/errors'
import type { Permission, Role } from './schema'

export const emailTaken = defineError(
  'conflict',
  () => 'An account with this e-mail address exists. Sign in with POST /auth/sessions.',
)

export const orgNotFound = defineError('not_found', () => 'No organization with this id.')

export const memberNotFound = defineError(
  'not_found',
  () => 'No member with this id in the organization. GET /orgs/{id}/members lists them.',
)

/** One answer for every token that cannot be used, so that it does not reveal the reason. */
export const invitationNotFound = defineError(
  'not_found',
  () =>
    'No open invitation with this token for your e-mail address: it is mistyped, used, replaced, expired or for ' +
    'someone else. Ask an owner or admin of the organization for a new one.',
)

export const slugTaken = defineError(
  'conflict',
  (slug: string) => `An organization with the slug "${slug}" exists. Choose another slug, or leave it out.`,
)

export const permissionMissing = defineError(
  'forbidden',
  (role: Role | null, permission: Permission) =>
    `This needs the permission ${permission}, and your role in the organization is ${role ?? 'none'}. ` +
    'An owner or admin of the organization can do it or change your role.',
)

export const ownerOnly = defineError(
  'forbidden',
  (what: string, role: Role | null) =>
    `Only an owner can ${what}, and your role in the organization is ${role ?? 'none'}. Ask one of its owners.`,
)

export const personOnly = defineError(
  'forbidden',
  (what: string) =>
    `An organization's key acts for its organization and cannot ${what}. Use a personal key or a session.`,
)

export const lastOwner = defineError(
  'conflict',
  () =>
    'This is the last owner, and an organization needs one. Make another member an owner first: ' +
    'PATCH /orgs/{id}/members/{userId} {"role":"owner"}.',
)

export const tooManyOrgs = defineError(
  'conflict',
  (max: number, ownerFilter: 'You own' | 'This member owns') =>
    `${ownerFilter} ${max} organizations, which is the maximum per person (SVC_MAX_ORGS_PER_PERSON). Delete one, or make someone else its owner, first.`,
)

export const alreadyMember = defineError(
  'conflict',
  (email: string) =>
    `${email} is already a member of the organization. Change the role with PATCH /orgs/{id}/members/{userId}.`,
)

export const ambiguousOrg = defineError(
  'validation_error',
  (word: string, slugs: string[]) =>
    `"${word}" matches ${slugs.length} organizations: ${slugs.join(', ')}. Name one by its slug.`,
)

export const ambiguousUser = defineError(
  'validation_error',
  (word: string, ids: string[]) =>
    `"${word}" matches ${ids.length} accounts: ${ids.join(', ')}. Send more characters of the id.`,
)

export const userNotFound = defineError(
  'not_found',
  (ref: string) =>
    `No account "${quoted(ref)}". Send an id or e-mail address, or create it: svc-admin users create EMAIL`,
)

export const sessionNotFound = defineError(
  'not_found',
  () => 'This account has no open session with this id. List them: svc-admin users sessions list USER',
)

export const userIsDisabled = defineError(
  'conflict',
  (email: string) => `The account ${email} is disabled. Enable it first: svc-admin users enable ${email}`,
)

export const linkForAdmins = defineError(
  'forbidden',
  (email: string) =>
    `The account ${email} has a platform role. Only an operator with the role admin can create links for it.`,
)
