import { ChevronsUpDown, CircleUser, Menu as MenuIcon, Monitor, Search } from 'lucide-react'
import { lazy, Suspense, useEffect, useState } from 'react'
import { Link, Redirect, Route, Switch, useLocation, useSearch } from 'wouter'
import type { Need } from '../../../routes-live'
import type { Section } from '../sections'
import { Button } from '../ui/controls'
import { initialOf } from '../ui/format'
import { Crash, Empty, Loading } from '../ui/states'
import { OwnerContext, part, useGet, useOwnerName } from './api'
import { boot, type Owner, ownerAt } from './boot'
import { listenForKeys, useKeys } from './keys'
import { Connection, Notices } from './notices'
import { Page } from './page'

// Overlays are loaded on the first user input, so that the first load contains only the page.
const moved = new Promise<unknown>((resolve) => {
  for (const kind of ['pointermove', 'pointerdown', 'keydown']) addEventListener(kind, resolve, { once: true })
  setTimeout(resolve, 3_000)
})
// Loads the dialog early, so that the first one opens at once.
void moved.then(() => part(() => import('../ui/dialog')))
const menus = () => moved.then(() => part(() => import('./menus')))
const OwnerPicker = lazy(() => menus().then((it) => ({ default: it.OwnerPicker })))
const ThemeMenu = lazy(() => menus().then((it) => ({ default: it.ThemeMenu })))
const AccountMenu = lazy(() => menus().then((it) => ({ default: it.AccountMenu })))
const KeyHelp = lazy(() => part(() => import('./help')).then((it) => ({ default: it.KeyHelp })))
const Palette = lazy(() => part(() => import('./palette')).then((it) => ({ default: it.Palette })))

const GROUPS = ['Watch', 'Build', 'Manage', 'Platform'] as const
const addressOf = ({ slug }: Owner, { id, group }: Section) =>
  group === 'Platform' ? `/all/${id}` : id ? `/${slug}/${id}` : `/${slug}`

/** The page around every section: navigation, the owner, and overlays that open from anywhere. */
export const Frame = ({ sections }: { sections: readonly Section[] }) => (
  <Route path="/:owner/*?">
    {({ owner: slug }) => {
      const owner = ownerAt(slug)
      if (!owner) return <Redirect to="/me" />
      return (
        <OwnerContext value={owner} key={owner.slug}>
          <Layout
            owner={owner}
            sections={sections.filter((it) => isShown(owner, it))}
            platform={sections.filter((it) => it.group === 'Platform' && isShown(EVERYBODY, it))}
          />
        </OwnerContext>
      )
    }}
  </Route>
)

function isShown({ looksAt, permissions }: Owner, { group, permission, operators }: Section): boolean {
  if (looksAt === undefined)
    return group !== 'Platform' && (permission === undefined || permissions.includes(permission))
  if (!operators?.roles.includes(boot.operator_role!)) return false
  return (looksAt === null ? operators.all : operators.one) !== null
}

/** The screen of a section for this owner. */
const screenOf = ({ looksAt }: Owner, { screen, operators }: Section) =>
  (looksAt === undefined ? screen : looksAt === null ? operators?.all : operators?.one) ?? screen

/** Owner for the operators' own pages, which are reachable from everywhere but have one address, that of all owners. */
const EVERYBODY = { looksAt: null } as Owner

type LayoutProps = { owner: Owner; sections: readonly Section[]; platform: readonly Section[] }

/** Number of waiting items per section. Empty until the first load is done. */
function useWaiting({ looksAt }: Owner): Record<string, number> {
  const [isLate, setLate] = useState(false)
  useEffect(() => void moved.then(() => setLate(true)), [])
  const off = !isLate || looksAt !== undefined
  const { data } = useGet<{ needs: Need[] }>('/needs', {}, { everyMs: NEEDS_MS, off })
  const waiting: Record<string, number> = {}
  for (const { section, severity, count } of data?.needs ?? [])
    if (severity === 'now') waiting[section] = (waiting[section] ?? 0) + count
  return waiting
}
const NEEDS_MS = 60_000

function Layout({ owner, sections, platform }: LayoutProps) {
  const waiting = useWaiting(owner)
  const listed = [...sections.filter(({ group }) => group !== 'Platform'), ...platform]
  const [path, navigate] = useLocation()
  const search = useSearch()
  const [isMenuOpen, setMenuOpen] = useState(false)
  const [overlay, setOverlay] = useState<'palette' | 'help' | null>(null)
  useEffect(() => listenForKeys(() => setOverlay('palette')), [])
  // biome-ignore lint/correctness/useExhaustiveDependencies: another address closes the menu
  useEffect(() => setMenuOpen(false), [path])
  useKeys([
    { keys: '?', label: 'Keys of this screen', run: () => setOverlay('help') },
    { keys: '/', label: 'Filter', run: () => document.querySelector<HTMLElement>('[data-filter]')?.focus() },
    ...sections
      .filter(({ letter }) => letter)
      .map((section) => ({
        keys: `g ${section.letter}`,
        label: section.title,
        run: () => navigate(addressOf(owner, section)),
      })),
  ])
  return (
    <div className="frame">
      <a className="skip" href="#main">
        Skip to the content
      </a>
      <nav className={isMenuOpen ? 'side open' : 'side'} aria-label="Sections">
        <Link href={`/${owner.slug}`} className="mark" aria-label="svc, overview">
          <Mark />
          svc
        </Link>
        {GROUPS.map((group) => {
          const own = listed.filter((section) => section.group === group)
          return (
            own.length > 0 && (
              <div key={group}>
                <h2 id={`group-${group}`}>{group}</h2>
                <ul aria-labelledby={`group-${group}`}>
                  {own.map((section) => (
                    <li key={section.id}>
                      <NavLink owner={owner} section={section} path={path} waiting={waiting[section.id] ?? 0} />
                    </li>
                  ))}
                </ul>
              </div>
            )
          )
        })}
      </nav>
      <header className="top">
        <Button
          kind="plain"
          className="menu-button"
          aria-label="Sections"
          aria-expanded={isMenuOpen}
          onClick={() => setMenuOpen((open) => !open)}
        >
          <MenuIcon size={18} aria-hidden="true" />
        </Button>
        <Suspense
          fallback={
            <span className="button plain owner">
              <span className="initial" aria-hidden="true" data-letter={initialOf(owner.name)} />
              <span className="owner-name">{owner.name}</span>
              <ChevronsUpDown size={14} aria-hidden="true" />
            </span>
          }
        >
          <OwnerPicker owner={owner} />
        </Suspense>
        <Connection />
        <button
          type="button"
          className="palette-button"
          aria-label="Search or jump to…"
          onClick={() => setOverlay('palette')}
        >
          <Search size={16} aria-hidden="true" />
          <span>Search or jump to…</span>
          <kbd data-keys={/Mac/.test(navigator.userAgent) ? '⌘ K' : 'Ctrl K'} />
        </button>
        <Suspense
          fallback={[Monitor, CircleUser].map((Icon, n) => (
            <span key={n === 0 ? 'theme' : 'account'} className="button plain" aria-hidden="true">
              <Icon size={18} />
            </span>
          ))}
        >
          <ThemeMenu />
          <AccountMenu onHelp={() => setOverlay('help')} />
        </Suspense>
      </header>
      <div className="content">
        {owner.looksAt && <Looking owner={owner} />}
        <Notices />
        <Crash key={path.split('/')[2]} place={path + search}>
          <Switch>
            {sections.map((section) => {
              const Screen = screenOf(owner, section)
              return (
                <Route key={section.id} path={section.id ? `/:owner/${section.id}/:id?` : '/:owner'}>
                  <Suspense
                    fallback={
                      <Page title={section.title}>
                        <Loading rows={8} />
                      </Page>
                    }
                  >
                    <Screen />
                  </Suspense>
                </Route>
              )
            })}
            <Route path="/:owner/overview">
              <Redirect to={`/${owner.slug}${search && `?${search}`}`} replace />
            </Route>
            <Route>
              <Unknown owner={owner} />
            </Route>
          </Switch>
        </Crash>
      </div>
      <Suspense>
        {overlay === 'palette' && <Palette owner={owner} sections={sections} onClose={() => setOverlay(null)} />}
        {overlay === 'help' && <KeyHelp onClose={() => setOverlay(null)} />}
      </Suspense>
    </div>
  )
}

/** Tells an operator whose rows are shown. */
function Looking({ owner }: { owner: Owner }) {
  const name = useOwnerName()
  return (
    <section className="notice warn looking" aria-label="Whom you look at">
      <span>
        You see {name} as {owner.role}. Reads are recorded.
      </span>
      <Link href="/all">To all owners</Link>
    </section>
  )
}

type NavLinkProps = { owner: Owner; section: Section; path: string; waiting: number }

function NavLink({ owner, section, path, waiting }: NavLinkProps) {
  const href = addressOf(owner, section)
  const isCurrent = section.id ? path === href || path.startsWith(`${href}/`) : path.replace(/\/$/, '') === href
  const { icon: Icon, title } = section
  return (
    <Link href={href} aria-current={isCurrent ? 'page' : undefined}>
      <Icon size={16} aria-hidden="true" />
      {title}
      {waiting > 0 && (
        <b className="waiting">
          {waiting}
          <span className="hidden"> waiting</span>
        </b>
      )}
    </Link>
  )
}

const Unknown = ({ owner }: { owner: Owner }) => (
  <Page title="Not here">
    <Empty text={`There is no such page, or your role ${owner.role} does not show it.`}>
      <Link className="button quiet" href={`/${owner.slug}`}>
        To the overview
      </Link>
    </Empty>
  </Page>
)

const Mark = () => (
  <svg viewBox="0 0 16 16" width="24" height="24" aria-hidden="true">
    <rect width="16" height="16" rx="4" />
    <path d="M11 5.5C10 4 6 4 6 6s5 1.5 5 4-4.5 2-5.5.5" />
  </svg>
)
