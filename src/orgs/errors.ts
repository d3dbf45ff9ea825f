import { defineError } from '../kernel/errors'
import type { Permission, Role } from './schema'

export const emailTaken = defineError(
  'conflict',
  'conflict',
  () => 'An account with this e-mail address exists. Sign in with POST /auth/sessions.',
)

export const slugTaken = defineError(
  'conflict',
  'conflict',
  (slug: string) => `An organization with the slug "${slug}" exists. Choose another slug, or leave it out.`,
)

export const permissionMissing = defineError(
  'forbidden',
  'forbidden',
  (role: Role | null, permission: Permission) =>
    `This needs the permission ${permission}, and your role in the organization is ${role ?? 'none'}. ` +
    'An owner or admin of the organization can do it or change your role.',
)

export const ambiguousOrg = defineError(
  'conflict',
  'conflict',
  (name: string, slugs: string[]) => `${slugs.length} organizations are called "${name}": ${slugs.join(', ')}.`,
)
