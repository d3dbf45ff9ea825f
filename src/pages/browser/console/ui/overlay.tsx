import { X } from 'lucide-react'
import { lazy, type ReactNode, Suspense, useEffect, useRef, useState, useSyncExternalStore } from 'react'
import { createPortal } from 'react-dom'
import { Button, SendForm } from './controls'
import type { DialogProps } from './dialog'

const Modal = lazy(() => import('./dialog').then(({ ModalDialog }) => ({ default: ModalDialog })))

/** A dialog in the middle of the page. Its code is loaded with the first dialog. */
export const Dialog = (props: DialogProps) => (
  <Suspense fallback={null}>
    <Modal {...props} />
  </Suspense>
)

type AskProps = {
  title: string
  verb: string
  children: ReactNode
  danger?: boolean
  busy?: boolean
  /** Text to type first, such as the name of the item to delete. */
  typed?: string
  onDo(): void
  onClose(): void
}

/** Asks for confirmation: describes the action, what it affects, and whether it can be undone. */
export function Ask({ title, verb, children, danger, busy = false, typed, onDo, onClose }: AskProps) {
  const [text, setText] = useState('')
  return (
    <Dialog title={title} onClose={onClose}>
      <SendForm
        onSend={() => {
          if (!busy && (typed === undefined || text === typed)) onDo()
        }}
      >
        {children}
        {typed !== undefined && (
          <label className="field">
            Type {typed} to go on
            <input value={text} onChange={(event) => setText(event.target.value)} autoComplete="off" />
          </label>
        )}
        <div className="actions end">
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" kind={danger ? 'danger' : 'primary'} busy={busy}>
            {verb}
          </Button>
        </div>
      </SendForm>
    </Dialog>
  )
}

const FIELD = 'input:not([type="checkbox"], [type="radio"]), textarea, select'
const WIDE = matchMedia('(min-width: 1100px)')
const listen = (changed: () => void) => {
  WIDE.addEventListener('change', changed)
  return () => WIDE.removeEventListener('change', changed)
}

type DrawerProps = {
  title: ReactNode
  label: string
  onClose(): void
  children: ReactNode
  head?: ReactNode
  wide?: boolean
  /** True for a form, whose first field gets the focus. */
  isForm?: boolean
}

/**
 * Details beside a list. With enough room the list stays usable. On small screens the drawer covers the page, which
 * then takes no focus. Both use one element, so that typed text survives a rotation of the device.
 */
export function Drawer({ title, label, onClose, children, head, wide, isForm }: DrawerProps) {
  const isWide = useSyncExternalStore(listen, () => WIDE.matches)
  const heading = useRef<HTMLHeadingElement>(null)
  useEffect(() => {
    const page = document.getElementById('console')!
    page.inert = !isWide
    if (!wide) page.classList.add('beside')
    return () => {
      page.inert = false
      page.classList.remove('beside')
    }
  }, [isWide, wide])
  useEffect(() => {
    const before = document.activeElement as HTMLElement | null
    const drawer = heading.current!.closest('.drawer')!
    const focusHeading = () => heading.current?.focus({ preventScroll: true })
    const field = isForm && drawer.querySelector<HTMLElement>(FIELD)
    if (field) field.focus({ preventScroll: true })
    else focusHeading()
    // What had the focus can go, for example the button of what was just done. The drawer then keeps the focus.
    let isInside = true
    const moved = ({ target }: Event) => {
      isInside = target instanceof Element && (drawer.contains(target) || target.closest('.veil') !== null)
    }
    const changes = new MutationObserver(() => {
      if (isInside && document.activeElement === document.body) focusHeading()
    })
    changes.observe(drawer, { childList: true, subtree: true })
    for (const kind of ['focusin', 'pointerdown']) document.addEventListener(kind, moved)
    return () => {
      changes.disconnect()
      for (const kind of ['focusin', 'pointerdown']) document.removeEventListener(kind, moved)
      // The row that led here may be deleted.
      const after = before?.isConnected ? before : document.querySelector<HTMLElement>('main h1')
      after?.focus({ preventScroll: true })
    }
  }, [isForm])
  return createPortal(
    <div
      className={wide ? 'drawer wide' : 'drawer'}
      aria-label={label}
      {...(isWide ? { role: 'complementary' } : { role: 'dialog', 'aria-modal': true })}
      onKeyDown={(event) => {
        if (event.key !== 'Escape' || event.defaultPrevented) return
        event.stopPropagation()
        onClose()
      }}
    >
      <div className="drawer-head">
        <h2 ref={heading} tabIndex={-1}>
          {title}
        </h2>
        {head}
        <Button kind="plain" onClick={onClose} aria-label="Close" icon={X} />
      </div>
      <div className="drawer-body">{children}</div>
    </div>,
    document.body,
  )
}
