import { ChevronsUpDown, CircleUser, Monitor, Moon, Sun } from 'lucide-react'
import type { ReactNode } from 'react'
import { Button as AriaButton } from 'react-aria-components/Button'
import { Menu, MenuItem, MenuTrigger } from 'react-aria-components/Menu'
import { Popover } from 'react-aria-components/Popover'
import { useLocation } from 'wouter'
import { initialOf } from '../ui/format'
import { useOwner, useOwnerName } from './api'
import { at, boot, type Owner } from './boot'
import { createValue } from './value'

type Item = { id: string; text: ReactNode; hint?: string; run(): void }
type Props = { label: string; button: ReactNode; className?: string; current?: string; items: readonly Item[] }

/** A button that opens a list of actions or choices. */
export const DropDown = ({ label, button, className = 'button plain', current, items }: Props) => (
  <MenuTrigger>
    <AriaButton className={className} aria-label={label}>
      {button}
    </AriaButton>
    <Popover className="popover">
      <Menu
        aria-label={label}
        onAction={(id) => items.find((item) => item.id === id)?.run()}
        {...(current === undefined ? {} : { selectionMode: 'single' as const, selectedKeys: [current] })}
      >
        {items.map(({ id, text, hint }) => (
          <MenuItem key={id} id={id} textValue={String(text)}>
            {text}
            {hint && <small>{hint}</small>}
          </MenuItem>
        ))}
      </Menu>
    </Popover>
  </MenuTrigger>
)

/** Chooses the owner whose rows are shown. A section that both owners have stays open. */
export function OwnerPicker({ owner }: { owner: Owner }) {
  const [path, navigate] = useLocation()
  const shown = useOwnerName()
  const section = path.split('/')[2] ?? ''
  return (
    <DropDown
      label={`Owner: ${shown}`}
      className="button plain owner"
      current={owner.slug}
      button={
        <>
          <span className="initial" aria-hidden="true" data-letter={initialOf(shown)} />
          <span className="owner-name">{shown}</span>
          <ChevronsUpDown size={14} aria-hidden="true" />
        </>
      }
      items={boot.owners.map(({ slug, name, role, id }) => ({
        id: slug,
        text: name,
        hint: id ? `you are ${role}` : slug === 'me' ? boot.user.email : role,
        run: () => navigate(`/${slug}${section && `/${section}`}`),
      }))}
    />
  )
}

const THEMES = { system: Monitor, light: Sun, dark: Moon } as const
type Theme = keyof typeof THEMES
/** `system` follows the system's theme. The document gets the theme from a cookie, so that the first paint is right. */
const theme = createValue<Theme>((document.documentElement.dataset.theme as Theme | undefined) ?? 'system')

function choose(next: Theme): void {
  const { documentElement: root } = document
  if (next === 'system') delete root.dataset.theme
  else root.dataset.theme = next
  const age = next === 'system' ? 0 : 31_536_000
  // biome-ignore lint/suspicious/noDocumentCookie: the server draws the document in this theme
  document.cookie = `svc_theme=${next}; path=${at('/console')}; max-age=${age}; samesite=strict`
  theme.set(next)
}

export function ThemeMenu() {
  const now = theme.use()
  const Icon = THEMES[now]
  const names = { system: 'As the system', light: 'Light', dark: 'Dark' }
  return (
    <DropDown
      label={`Theme: ${names[now]}`}
      current={now}
      button={<Icon size={18} aria-hidden="true" />}
      items={(Object.keys(THEMES) as Theme[]).map((id) => ({ id, text: names[id], run: () => choose(id) }))}
    />
  )
}

/** Signing out sends a form, like every sign-in form of this server. */
function signOut(): void {
  const form = document.createElement('form')
  Object.assign(form, { method: 'post', action: at('/sign-out') })
  document.body.append(form)
  form.submit()
}

export function AccountMenu({ onHelp }: { onHelp(): void }) {
  const { slug, looksAt } = useOwner()
  const [, navigate] = useLocation()
  return (
    <DropDown
      label={`Account: ${boot.user.name ?? boot.user.email}`}
      button={<CircleUser size={18} aria-hidden="true" />}
      items={[
        {
          id: 'settings',
          text: 'Settings',
          hint: boot.user.email,
          run: () => navigate(`/${looksAt === undefined ? slug : 'me'}/settings`),
        },
        { id: 'docs', text: 'API reference', run: () => location.assign(at('/docs')) },
        { id: 'keys', text: 'Keyboard shortcuts', run: onHelp },
        { id: 'out', text: 'Sign out', run: signOut },
      ]}
    />
  )
}
