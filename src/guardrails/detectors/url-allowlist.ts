import { t } from '../../kernel/schema'
import { defineGuardrail, InvalidConfig } from '../guardrail'
import { plainly } from '../text/plain'
import { findUrls, hostOf } from './urls'

export const urlAllowlist = defineGuardrail({
  id: 'url_allowlist',
  description:
    'Web addresses whose host is neither on a list nor below one of it, read as browsers read them: whatever stands before an @, in look-alike letters, encoded, or without a scheme',
  phases: ['output', 'tool_call'],
  verdicts: ['block', 'redact', 'flag'],
  config: t.Object(
    { domains: t.Array(t.String({ minLength: 1, maxLength: 253 }), { minItems: 1, maxItems: 200 }) },
    { additionalProperties: false },
  ),
  prepare({ domains }) {
    const allowed = new Set(domains.map(domainOf))
    return (text) => {
      const { text: plain, span } = plainly(text)
      const foreign = findUrls(plain).filter(({ host }) => !isAllowed(host, allowed))
      if (!foreign.length) return null
      const matches = foreign.map(({ start, end }) => ({ ...span(start, end), kind: 'url' }))
      return { detail: `holds addresses of hosts that are not on the list (${foreign.length})`, matches }
    }
  },
})

/** `example.com` and `*.example.com` alike stand for the host and all below it. */
function domainOf(domain: string, place: number): string {
  const bare = domain.trim().replace(/^\*\./, '')
  const host = /[/\\@?#\s*]/.test(bare) ? null : hostOf(`https://${bare}`)
  if (!host || (bare.includes(':') && !bare.startsWith('['))) {
    throw new InvalidConfig(`domains.${place} is no domain; write it without scheme, port and path, as in example.com`)
  }
  return host
}

function isAllowed(host: string, allowed: ReadonlySet<string>): boolean {
  if (allowed.has(host)) return true
  for (let dot = host.indexOf('.'); dot >= 0; dot = host.indexOf('.', dot + 1)) {
    if (allowed.has(host.slice(dot + 1))) return true
  }
  return false
}
