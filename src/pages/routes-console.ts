import { Elysia } from 'elysia'
import { mayDo } from '../accounts'
import { type Org, PERMISSIONS } from '../accounts/orgs/schema'
import { NOWHERE_HEADERS, NOWHERE_PAGE } from '../http/envelope'
import type { Guard } from '../http/guard'
import type { Call, OperatorRole } from '../kernel/caller'
import { dataOf, html } from '../kernel/html'
import type { ConsoleAssets } from './assets'
import { served } from './routes'
import { type Answer, goTo, signInAt } from './routes-accounts'
import type { Context, Entering } from './routes-entering'

type Deps = {
  /** Prefix of every path of this server, when a proxy puts it below one. */
  base: string
  entering: Pick<Entering, 'person'>
  assets: ConsoleAssets
  me(call: Call): Promise<{
    user: { id: string; email: string; name: string | null }
    has_password: boolean
    orgs: Pick<Org, 'id' | 'name' | 'slug' | 'role'>[]
    active_org_id: string | null
    operator_role: OperatorRole | null
  }>
  /** The reader's own settings. */
  settings(call: Call): Promise<{ shortcuts: boolean; timezone: string }>
  /** True if operators may work in the console. */
  hasOperators: boolean
  /** Facts about this server for the page. */
  about: {
    version: string
    mode: 'production' | 'dev'
    public_url: string | null
    features: { mail: boolean; signup: boolean; payments: boolean }
  }
}

/** An owner whose rows the console shows. `all` means everybody, for operators. */
type BootOwner = { slug: string; id: string | null; name: string; role: string; permissions: readonly string[] }

/** The data that the document passes to its script. `permissions` are those of the person's role in each owner. */
export type Boot = Deps['about'] & {
  build: string
  base_path: string
  user: { id: string; email: string; name: string | null; has_password: boolean }
  /** The person's operator role on this server. Null for none. */
  operator_role: OperatorRole | null
  owners: BootOwner[]
  /** True if single keys are enabled. */
  shortcuts: boolean
  /** The time zone whose midnights separate the days of charts, from the reader's settings. */
  timezone: string
}

/** Only files of this server. Styles and scripts only from files. */
const HEADERS = {
  'content-type': 'text/html; charset=utf-8',
  'cache-control': 'no-store',
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data: blob:; " +
    "media-src 'self' blob:; frame-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
  'cross-origin-opener-policy': 'same-origin',
  'referrer-policy': 'same-origin',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'permissions-policy': 'camera=(), geolocation=(), microphone=(), payment=(), clipboard-write=(self)',
}

/** First parts of addresses that are not organizations. */
const TAKEN = new Set(['me', 'all', 'sign-in', 'start', 'assets', 'invitation'])

/** Sections that links may name without an owner. */
const OWNERLESS = new Set(['inbox', 'settings', 'playground'])

/** `/console`: one document for every address of the console, and its files. */
export function consoleRoutes({ base, entering, assets, me, settings, hasOperators, about }: Deps, guard: Guard) {
  async function bootOf(call: Call, build: string): Promise<{ boot: Boot; home: string }> {
    const [{ user, has_password, orgs, active_org_id, operator_role }, { shortcuts, timezone }] = await Promise.all([
      me(call),
      settings(call),
    ])
    const teams = orgs.map(({ id, slug, name, role }) => ({
      slug: TAKEN.has(slug) ? `org:${id}` : slug,
      id,
      name,
      role,
      permissions: PERMISSIONS.filter((permission) => mayDo(role, permission)),
    }))
    const own = { slug: 'me', id: null, name: 'Personal', role: 'owner', permissions: [...PERMISSIONS] }
    const role = hasOperators ? operator_role : null
    // Rows of everybody. The operators' routes themselves decide which roles besides the admin may change something.
    const permissions = role === 'admin' ? PERMISSIONS : (['viewUsage', 'viewAudit'] as const)
    const all = { slug: 'all', id: null, name: 'All owners', role: `operator (${role})`, permissions }
    const owners = [own, ...teams, ...(role === null ? [] : [all])]
    const person = { user: { ...user, has_password }, operator_role: role, owners, shortcuts, timezone }
    const boot = { ...about, build, base_path: base, ...person }
    return { boot, home: teams.find(({ id }) => id === active_org_id)?.slug ?? 'me' }
  }

  return new Elysia({ prefix: '/console', detail: { hide: true } })
    .use(guard)
    .get(
      '/assets/:name',
      async ({ params, request }) => {
        const file = (await assets()).files.get(params.name)
        if (file) return served(file, request, 'public, max-age=31536000, immutable')
        return new Response(NOWHERE_PAGE, { status: 404, headers: { ...NOWHERE_HEADERS, 'cache-control': 'no-store' } })
      },
      { open: true },
    )
    .get('', (context) => shown(context), { open: true })
    .get('/*', (context) => shown(context), { open: true })

  async function shown({ set, exchange, request, route }: Context & { set: Answer }) {
    const { pathname, search } = URL.parse(request.url)!
    const call = await entering.person({ exchange, request, route })
    if (!call) return goTo(set, base + signInAt(pathname + search))
    const { script, style, parts } = await assets()
    const { boot, home } = await bootOf(call, script)
    const [owner, section = 'overview'] = pathname.split('/').slice(2)
    if (!owner) return goTo(set, `${base}/console/${home}${search}`)
    // Other pages link here without an owner. The person's current owner is then used.
    if (OWNERLESS.has(owner) && !boot.owners.some(({ slug }) => slug === owner))
      return goTo(set, `${base}${pathname.replace('/console', `/console/${home}`)}${search}`)
    Object.assign(set.headers, HEADERS)
    const theme = /(?:^|;\s*)svc_theme=(light|dark)\b/.exec(request.headers.get('cookie') ?? '')?.[1]
    const at = (name: string) => `${base}/console/assets/${name}`
    return html`<!doctype html>
<html lang="en" dir="ltr"${theme && { markup: ` data-theme="${theme}"` }}>
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1, interactive-widget=resizes-content">
<meta name="robots" content="noindex">
<meta id="react-aria-pressable-style">
<title>svc</title>
<link rel="icon" href="${base}/favicon.ico">
<link rel="stylesheet" href="${at(style)}">
<script type="module" src="${at(script)}"></script>
${(parts[section] ?? []).map((name) => html`<link rel="modulepreload" href="${at(name)}">`)}
<script type="application/json" id="boot">${{ markup: dataOf(boot) }}</script>
</head>
<body><div id="console"><noscript>The console needs JavaScript. On the command line: svc-admin.</noscript></div></body>
</html>
`.markup
  }
}
