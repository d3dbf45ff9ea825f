import type * as words from '../src/orgs/schema'

/** Spelled here because the room's own lists would load the schema compiler before `--help` can answer. */
export const ORG_TYPES = ['team', 'agency', 'carrier', 'fmo', 'mga', 'broker'] as const satisfies typeof words.ORG_TYPES
export const ROLES = ['owner', 'admin', 'member', 'viewer'] as const satisfies typeof words.ROLES
export const PLATFORM_ROLES = ['reviewer', 'security_reviewer', 'admin'] as const satisfies typeof words.PLATFORM_ROLES
export const PERMISSIONS = [
  ...(['manageWebhooks', 'manageApiKeys', 'manageBilling', 'manageMembers'] as const),
  ...(['manageConnectors', 'manageSkills', 'viewUsage', 'viewAudit'] as const),
] as const satisfies typeof words.PERMISSIONS
