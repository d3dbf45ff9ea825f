import type { Bridge } from './bridge'
import type { Panel } from './panel'

const FOCUSABLE = 'button:not([hidden]), [href], input:not([tabindex="-1"]), textarea, [tabindex="0"]'

type Options = {
  panel: Panel
  bridge: Pick<Bridge, 'isFramed' | 'isInline' | 'isNarrow' | 'tell'>
  field(): HTMLElement
  opened(): void
}

/** Open and closed: what is drawn, where the focus goes, and what the host's page is told. */
export function createShell({ panel, bridge, field, opened }: Options) {
  let isOpen = false
  let isModal = false
  const { launcher } = panel
  const place = `svc-widget-open:${location.pathname}`

  function measure(): void {
    const { width, height } = launcher.getBoundingClientRect()
    // A frame that is not shown yet has no sizes.
    if (width === 0) return
    // Room for the focus ring and the shadow around it.
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

  /** In this tab alone: the next page of the host shows the chat as it was. */
  function keepOpen(open: boolean): void {
    try {
      if (open) sessionStorage.setItem(place, '1')
      else sessionStorage.removeItem(place)
    } catch {
      // Without storage each page begins closed.
    }
  }

  function wasOpen(): boolean {
    try {
      return !bridge.isNarrow && sessionStorage.getItem(place) !== null
    } catch {
      return false
    }
  }

  /** What is open from the start neither moves nor takes the focus from the page that it is in. */
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
    // On a touch screen the keyboard would cover what there is to read.
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
    /** Whether it was open on the page before this one, and may be without covering this one. */
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
