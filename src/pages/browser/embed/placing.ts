export const NARROW = '(max-width: 479px)'
const EDGE = 'max(16px, env(safe-area-inset-bottom))'
const PANEL = { width: 400, height: 640 }
const MAX = { width: 1_000, height: 2_000 }

const within = (value: unknown, max: number): number => Math.min(max, Math.max(1, Math.round(Number(value)) || 1))

/** Position and size of the frame. All styles are important, so that no style of the host's page can change them. */
export function createPlacing(iframe: HTMLIFrameElement, { position, zIndex, container }: DOMStringMap) {
  const inline = Boolean(container)
  const narrow = matchMedia(NARROW)
  let side: 'left' | 'right' = position === 'bottom-left' ? 'left' : 'right'
  let launcher = { width: 72, height: 72 }
  let isOpen = false
  let isShown = false
  // If the colour scheme of a frame differs from its page, the frame gets an opaque background, which shows at the
  // corners.
  let scheme = 'light dark'
  let unlock = () => {}

  function draw(): void {
    const full = isOpen && narrow.matches && !inline
    const size = isOpen ? PANEL : launcher
    const style: Record<string, string> = {
      all: 'initial',
      border: '0',
      display: isShown ? 'block' : 'none',
      visibility: 'visible',
      opacity: '1',
      background: 'transparent',
      'color-scheme': scheme,
    }
    if (inline) Object.assign(style, { width: '100%', height: '100%', 'min-height': '400px' })
    else
      Object.assign(style, {
        position: 'fixed',
        'z-index': /^\d{1,10}$/.test(zIndex ?? '') ? zIndex! : '2147483000',
        width: full ? '100%' : `${size.width}px`,
        height: full ? '100dvh' : `${size.height}px`,
        'max-width': '100%',
        'max-height': full ? 'none' : isOpen ? 'calc(100dvh - 32px)' : 'none',
        bottom: full ? '0' : EDGE,
        [side]: full ? '0' : '16px',
      })
    iframe.style.cssText = ''
    for (const [name, value] of Object.entries(style)) iframe.style.setProperty(name, value, 'important')
    unlock()
    unlock = full ? lockScroll() : () => {}
  }

  draw()
  return {
    isNarrow: () => narrow.matches && !inline,
    /** The corner that the widget's owner chose. The tag of the page overrides it. */
    corner(wanted: unknown): void {
      if (!position) side = wanted === 'bottom-left' ? 'left' : 'right'
      draw()
    },
    /** `light` or `dark`, as the chat is drawn. Any other value follows the visitor. */
    scheme(wanted: unknown): void {
      if (wanted === 'light' || wanted === 'dark') scheme = wanted
      draw()
    },
    title(frame: HTMLIFrameElement, title: unknown): void {
      if (typeof title === 'string' && title) frame.title = title.slice(0, 200)
    },
    size(width: unknown, height: unknown): void {
      launcher = { width: within(width, MAX.width), height: within(height, MAX.height) }
      draw()
    },
    opened(open: boolean): void {
      isOpen = open
      draw()
    },
    show(shown: boolean): void {
      isShown = shown
      draw()
    },
    /** Calls `changed` when the page becomes narrow or wide. Returns a function to stop. */
    watch(changed: () => void): () => void {
      const hear = () => {
        draw()
        changed()
      }
      narrow.addEventListener('change', hear)
      return () => narrow.removeEventListener('change', hear)
    },
  }
}

/** Stops scrolling of the page behind a full screen. Returns a function that restores its exact style. */
function lockScroll(): () => void {
  const { style } = document.documentElement
  const [before, priority] = [style.getPropertyValue('overflow'), style.getPropertyPriority('overflow')]
  style.setProperty('overflow', 'hidden', 'important')
  return () => {
    if (before) style.setProperty('overflow', before, priority)
    else style.removeProperty('overflow')
  }
}
