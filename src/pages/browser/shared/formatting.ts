/** Text with Markdown as elements, as `markdown.ts` makes them. */
export type Formatting = (text: string) => Node

/** When the browser has nothing else to do, or after so long. */
const IDLE = { timeout: 2_000 }
const LATEST_MS = 1_000

/**
 * Reading Markdown takes most of a page's bytes, and what is seen first needs none of it: so it is loaded when the
 * page is ready. Until then, and where it cannot be loaded, text is shown as it was written.
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
      // Two frames later what is there has been painted; a frame that is not shown yet has none, so the time ends it.
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
