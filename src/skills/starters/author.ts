/** Author and license of the skills in this folder. */
export const BY_US = { author: { name: 'svc' }, license: 'Apache-2.0' } as const
