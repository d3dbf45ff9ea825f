import type * as words from '../src/accounts/orgs/schema'

/** Repeated here, because importing them from the module would load the schema compiler even for `--help`. */
export const ORG_TYPES = ['team', 'agency', 'carrier', 'fmo', 'mga', 'broker'] as const satisfies typeof words.ORG_TYPES
export const ROLES = ['owner', 'admin', 'member', 'viewer'] as const satisfies typeof words.ROLES
export const PLATFORM_ROLES = ['reviewer', 'security_reviewer', 'admin'] as const satisfies typeof words.PLATFORM_ROLES
export const PERMISSIONS = [
  ...(['manageWebhooks', 'manageApiKeys', 'manageBilling', 'manageMembers'] as const),
  ...(['manageConnectors', 'manageSkills', 'viewUsage', 'viewAudit'] as const),
] as const satisfies typeof words.PERMISSIONS
