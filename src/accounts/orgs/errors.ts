import { defineErrors, quoted } from '../../kernel/errors'
import type { Permission, Role } from './schema'

export const orgErrors = {
  ...defineErrors('conflict', {
    emailTaken: 'An account with this e-mail address exists. Sign in with POST /auth/sessions.',
    slugTaken: (slug: string) =>
      `An organization with the slug "${slug}" exists. Choose another slug, or leave it out.`,
    lastOwner:
      'This is the last owner, and an organization needs one. Make another member an owner first: ' +
      'PATCH /orgs/{id}/members/{userId} {"role":"owner"}.',
    tooManyOrgs: (max: number, ownerFilter: 'You own' | 'This member owns') =>
      `${ownerFilter} ${max} organizations, which is the maximum per person (SVC_MAX_ORGS_PER_PERSON). Delete one, or make someone else its owner, first.`,
    alreadyMember: (email: string) =>
      `${email} is already a member of the organization. Change the role with PATCH /orgs/{id}/members/{userId}.`,
    userIsDisabled: (email: string) =>
      `The account ${email} is disabled. Enable it first: svc-admin users enable ${email}`,
  }),
  ...defineErrors('not_found', {
    orgNotFound: 'No organization with this id.',
    memberNotFound: 'No member with this id in the organization. GET /orgs/{id}/members lists them.',
    /** One answer for every token that cannot be used, so that it does not reveal the reason. */
    invitationNotFound:
      'No open invitation with this token for your e-mail address: it is mistyped, used, replaced, expired or for ' +
      'someone else. Ask an owner or admin of the organization for a new one.',
    userNotFound: (ref: string) =>
      `No account "${quoted(ref)}". Send an id or e-mail address, or create it: svc-admin users create EMAIL`,
    sessionNotFound: 'This account has no open session with this id. List them: svc-admin users sessions list USER',
  }),
  ...defineErrors('forbidden', {
    permissionMissing: (role: Role | null, permission: Permission) =>
      `This needs the permission ${permission}, and your role in the organization is ${role ?? 'none'}. ` +
      'An owner or admin of the organization can do it or change your role.',
    ownerOnly: (what: string, role: Role | null) =>
      `Only an owner can ${what}, and your role in the organization is ${role ?? 'none'}. Ask one of its owners.`,
    personOnly: (what: string) =>
      `An organization's key acts for its organization and cannot ${what}. Use a personal key or a session.`,
    linkForAdmins: (email: string) =>
      `The account ${email} has a platform role. Only an operator with the role admin can create links for it.`,
  }),
  ...defineErrors('validation_error', {
    ambiguousOrg: (word: string, slugs: string[]) =>
      `"${word}" matches ${slugs.length} organizations: ${slugs.join(', ')}. Name one by its slug.`,
    ambiguousUser: (word: string, ids: string[]) =>
      `"${word}" matches ${ids.length} accounts: ${ids.join(', ')}. Send more characters of the id.`,
  }),
}
