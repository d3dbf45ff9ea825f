import { quoted } from '../../kernel/errors'
import { t } from '../../kernel/schema'
import { hostOf, urlsBut } from '../../text'
import { defineGuardrail, InvalidConfig } from '../guardrail'

export const urlAllowlist = defineGuardrail({
  id: 'url_allowlist',
  description:
    'URLs whose host is not on your list, nor a subdomain of a host on it. Reads URLs as browsers and Markdown renderers do: any scheme or none (`//host`), numeric hosts, user names before an @, look-alike letters, escaped or encoded; also hosts without a scheme that start with `www`, precede a path or have a common ending. Does not match e-mail addresses, single-label names without a scheme and file names',
  phases: ['output', 'tool_call'],
  verdicts: ['block', 'redact', 'flag'],
  config: t.Object(
    { domains: t.Array(t.String({ minLength: 1, maxLength: 253 }), { minItems: 1, maxItems: 200 }) },
    { additionalProperties: false },
  ),
  prepare({ domains }) {
    const allowed = new Set(domains.map(domainOf))
    return (text) => {
      const foreign = urlsBut(text, (host) => isAllowed(host, allowed))
      if (!foreign.length) return null
      const matches = foreign.map((place) => ({ ...place, kind: 'url' }))
      return { detail: `holds addresses of hosts that are not on the list (${matches.length})`, matches }
    }
  },
})

/** `example.com` and `*.example.com` both mean the host and its subdomains. */
function domainOf(domain: string, place: number): string {
  const bare = domain.trim().replace(/^\*\./, '')
  const host = /[/\\@?#\s*]/.test(bare) ? null : hostOf(`https://${bare}`)
  if (!host || (bare.includes(':') && !bare.startsWith('['))) {
    const what = `is "${quoted(domain)}", which is not a domain; write it without scheme, port and path, such as example.com`
    throw new InvalidConfig(`domains[${place}]`, what)
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
