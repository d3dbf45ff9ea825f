import type { OperatorRole } from '../kernel/caller'

const READS = new Set(['GET', 'HEAD'])

/** For the first word after `/ops/v1/`: the role that may make changes there besides the admin (dx 2.2). */
const CHANGES: Readonly<Record<string, OperatorRole>> = {
  credits: 'billing',
  tiers: 'billing',
  limits: 'billing',
  submissions: 'reviewer',
  skills: 'reviewer',
}

/** POST routes that change nothing. */
const QUESTIONS = new Set([
  'POST /ops/v1/verify',
  'POST /ops/v1/keys/check',
  'POST /ops/v1/cache/find',
  'POST /ops/v1/guardrail-policies/:id/evaluate',
  'POST /ops/v1/routing-preferences/preview',
  'POST /ops/v1/routing-preferences/suggest-rule',
])

/**
 * Whether a role may call a route (given as its pattern). Every role may read everything except operators; changes are
 * for the admin unless `CHANGES` opens the area to another role. So a new route is closed by default.
 */
export function mayCall(role: OperatorRole, method: string, route: string): boolean {
  if (role === 'admin') return true
  const area = route.split('/')[3] ?? ''
  if (area === 'operators') return false
  return READS.has(method) || QUESTIONS.has(`${method} ${route}`) || CHANGES[area] === role
}
