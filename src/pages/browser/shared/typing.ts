/** Whoever reads along is told at most this often that somebody writes. */
const EVERY_MS = 3_000

/** Calls `tell` while something is written into a field, and not for a field that was emptied. */
export function whileTyping(field: HTMLTextAreaElement, tell: () => void): void {
  let notifiedAt = -EVERY_MS
  field.addEventListener('input', () => {
    if (!field.value || performance.now() - notifiedAt <= EVERY_MS) return
    notifiedAt = performance.now()
    tell()
  })
}
