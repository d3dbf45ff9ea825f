/** Converts Markdown text to elements, as in `markdown.ts`. */
export type Formatting = (text: string) => Node

/** When the browser is idle, or after this timeout at the latest. */
const IDLE = { timeout: 2_000 }
const LATEST_MS = 1_000

/**
 * The Markdown parser is most of a page's bytes, and the first view does not need it. So it is loaded when the page is
 * ready. Until then, or if loading fails, the source text is shown.
 */
export function createFormatting(redraw: () => void) {
  const source = document.querySelector<HTMLScriptElement>('script[data-text]')?.dataset.text
  let format: Formatting | null = null
  let isRequested = false

  addEventListener(
    'svc-text',
    (event) => {
      format = (event as CustomEvent<Formatting>).detail
      redraw()
    },
    { once: true },
  )

  return {
    format: (text: string): Node => format?.(text) ?? document.createTextNode(text),
    load(): void {
      const begin = () => {
        if (isRequested) return
        isRequested = true
        const script = document.createElement('script')
        if (source) script.src = source
        document.head.append(script)
      }
      // After two animation frames, the current content has been painted. A hidden frame has none, so a timeout ends
      // the wait.
      const idle = () => ('requestIdleCallback' in window ? requestIdleCallback(begin, IDLE) : begin())
      const painted = setTimeout(idle, LATEST_MS)
      requestAnimationFrame(() =>
        requestAnimationFrame(() => {
          clearTimeout(painted)
          idle()
        }),
      )
    },
  }
}
