import { AppError, defineErrors, invalidInput, quoted } from '../kernel/errors'

type Title = { one: string; many: string }

export const teamNeedsOrg = () =>
  new AppError(
    'org_required',
    '"scope" is "team", but no organization is active. Activate one with POST /orgs/{id}/activate, or send "personal".',
    { param: 'scope' },
  )

const lacking = ({ many }: Title, permission: string, role: string | null): string =>
  `${many.charAt(0).toUpperCase() + many.slice(1)} of a team need the permission ${permission}, and your role in the organization is ${role ?? 'none'}. ` +
  'An owner or admin of the organization can do it or change your role.'

export const resourceErrors = {
  ...defineErrors('forbidden', {
    teamNeedsPermission: lacking,
  }),
  ...defineErrors('missing_scope', {
    /** For requests that name the owner: the only 403 code of such routes (docs/api.md 1.2). */
    chosenTeamNeedsPermission: lacking,
    personalFromOrgKey: ({ many }: Title) =>
      `An organization's key can only create ${many} of the team. Leave "scope" out, or use a personal key or a session ` +
      'for a personal one.',
    /** `missing_scope` is the only code for a 403 of these routes. */
    keyIsBound: ({ one }: Title) =>
      `This ${one} is bound to this key, so the key can neither change nor delete it. Use a session, or a key it is not ` +
      'bound to.',
  }),
  ...defineErrors('conflict', {
    tooMany: ({ many }: Title, max: number, env: string) =>
      `This scope has ${max} ${many}, which is the maximum here (${env}). Delete one of them first.`,
    defaultTaken: ({ one }: Title, name: string | null) =>
      `${name === null ? 'Another one' : `"${quoted(name)}"`} is already the default ${one} of this scope, and a scope has ` +
      'at most one. PATCH it with {"is_default":false} first.',
  }),
}

/** For operators, who name the owner. */
export const teamOfPerson = (name: string) =>
  invalidInput('scope', `"scope" is "team", but ${name} is a person. Name an organization: --org ORG.`)
