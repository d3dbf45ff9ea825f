import type { OperatorRole } from '../kernel/caller'

const READS = new Set(['GET', 'HEAD'])

/** The first word of a route after `/ops/v1/`, and whose its changes are besides the admin's (dx 2.2). */
const CHANGES: Readonly<Record<string, OperatorRole>> = {
  credits: 'billing',
  tiers: 'billing',
  limits: 'billing',
  submissions: 'reviewer',
  skills: 'reviewer',
}

/** Sent as POST, and yet they change nothing. */
const QUESTIONS = new Set([
  'POST /ops/v1/verify',
  'POST /ops/v1/keys/check',
  'POST /ops/v1/cache/find',
  'POST /ops/v1/guardrail-policies/:ref/evaluate',
  'POST /ops/v1/routing-preferences/preview',
  'POST /ops/v1/routing-preferences/suggest-rule',
])

/**
 * Whether a role may call a route, given as its pattern. Every role reads everything but the operators;
 * a change is the admin's unless its area is another role's too. So a new route is closed until it is opened.
 */
export function mayCall(role: OperatorRole, method: string, route: string): boolean {
  if (role === 'admin') return true
  const area = route.split('/')[3] ?? ''
  if (area === 'operators') return false
  return READS.has(method) || QUESTIONS.has(`${method} ${route}`) || CHANGES[area] === role
}
