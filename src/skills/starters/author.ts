/** Who stands behind the skills of this folder, and on which terms. */
export const BY_US = { author: { name: 'svc' }, license: 'Apache-2.0' } as const
