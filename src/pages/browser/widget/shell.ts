import type { Bridge } from './bridge'
import type { Panel } from './panel'

const FOCUSABLE = 'button:not([hidden]), [href], input:not([tabindex="-1"]), textarea, [tabindex="0"]'

type Options = {
  panel: Panel
  bridge: Pick<Bridge, 'isFramed' | 'isInline' | 'isNarrow' | 'tell'>
  field(): HTMLElement
  opened(): void
}

/** Handles opening and closing: the drawing, the focus, and the messages to the host's page. */
export function createShell({ panel, bridge, field, opened }: Options) {
  let isOpen = false
  let isModal = false
  const { launcher } = panel
  const place = `svc-widget-open:${location.pathname}`

  function measure(): void {
    const { width, height } = launcher.getBoundingClientRect()
    // A frame that is not shown yet has no size.
    if (width === 0) return
    // Adds room for the focus ring and the shadow.
    bridge.tell('resize', { width: Math.ceil(width) + 16, height: Math.ceil(height) + 16 })
  }

  function draw(): void {
    panel.panel.hidden = !isOpen
    launcher.hidden = isOpen || bridge.isInline
    launcher.setAttribute('aria-expanded', String(isOpen))
    panel.closeButton.hidden = bridge.isInline
  }

  function show(): void {
    isOpen = true
    keepOpen(true)
    draw()
    bridge.tell('open')
    panel.setUnread(0)
    opened()
  }

  /** Stores the state for this tab only, so that the host's next page shows the chat the same way. */
  function keepOpen(open: boolean): void {
    try {
      if (open) sessionStorage.setItem(place, '1')
      else sessionStorage.removeItem(place)
    } catch {
      // Without storage each page starts closed.
    }
  }

  function wasOpen(): boolean {
    try {
      return !bridge.isNarrow && sessionStorage.getItem(place) !== null
    } catch {
      return false
    }
  }

  /** A chat that is open from the start neither animates nor takes the focus from its page. */
  function begin(): void {
    show()
    if (!bridge.isFramed) requestAnimationFrame(focusField)
  }

  function open(): void {
    if (isOpen) return
    panel.panel.classList.add('rises')
    show()
    focusField()
  }

  function focusField(): void {
    // On a touch screen the keyboard would cover the messages.
    if (!matchMedia('(pointer: coarse)').matches) field().focus()
    else panel.closeButton.focus()
  }

  function close(): void {
    if (!isOpen || bridge.isInline) return
    isOpen = false
    keepOpen(false)
    draw()
    launcher.focus()
    bridge.tell('close')
  }

  document.addEventListener('keydown', (event) => {
    if (event.key === 'Escape') {
      if (!panel.closeMenu()) close()
      event.preventDefault()
    }
    if (event.key !== 'Tab' || !isModal || !isOpen) return
    const stops = [...panel.panel.querySelectorAll<HTMLElement>(FOCUSABLE)].filter((stop) => stop.offsetParent !== null)
    const [first, last] = [stops[0], stops.at(-1)]
    const leaves = event.shiftKey ? document.activeElement === first : document.activeElement === last
    if (!leaves) return
    event.preventDefault()
    ;(event.shiftKey ? last : first)?.focus()
  })

  new ResizeObserver(measure).observe(launcher)
  draw()
  return {
    isOpen: () => isOpen,
    /** True if the chat was open on the previous page and can be open here without covering the page. */
    wasOpen,
    begin,
    open,
    close,
    setModal(modal: boolean): void {
      isModal = modal
      panel.setModal(modal)
    },
  }
}
