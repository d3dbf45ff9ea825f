import postcss, { type AtRule, type Declaration } from 'postcss'
import { invalidInput } from '../kernel/errors'

/** At-rules that only arrange what is there. Fonts, imports and pages of others are not among them. */
const AT_RULES = new Set(['media', 'supports', 'keyframes', '-webkit-keyframes', 'container', 'layer'])
const PROPERTIES = new Set(['behavior', '-moz-binding'])
const LOADS = /url\(|image-set\(|image\(|src\(|expression\(|javascript:|@import|<\/?[a-z!]/

/**
 * An owner's CSS without what could load something, run something or leave its style element (contract 15.1). Throws 400
 * for what is no CSS.
 */
export function sanitiseCss(css: string, path = 'appearance.customCss'): string {
  if (css.trim() === '') return ''
  const root = parsed(css, path)
  root.walkComments((comment) => void comment.remove())
  root.walkAtRules((rule: AtRule) => {
    if (!AT_RULES.has(rule.name.toLowerCase()) || loads(rule.params)) rule.remove()
  })
  root.walkRules((rule) => {
    if (loads(rule.selector) || probes(rule.selector)) rule.remove()
  })
  root.walkDecls((declaration: Declaration) => {
    const name = unescaped(declaration.prop)
    if (PROPERTIES.has(name) || loads(declaration.value) || loads(name)) declaration.remove()
  })
  const left = root.toString().trim()
  // What is left must read the same for the browser, which ends a style element at the first "</".
  return left.includes('</') || /<!--/.test(left) ? '' : left
}

function parsed(css: string, path: string) {
  try {
    return postcss.parse(css)
  } catch (error) {
    const { reason = 'it cannot be read', line } = error as { reason?: string; line?: number }
    throw invalidInput(path, `"${path}" is not CSS: ${reason}${line ? ` in line ${line}` : ''}.`)
  }
}

/** Whether what is typed could change how the page looks, and so be told from outside. */
function probes(selector: string): boolean {
  const plain = unescaped(selector)
  return plain.includes('[value') || (plain.includes(':has(') && /input|textarea|select/.test(plain))
}

const loads = (text: string): boolean => LOADS.test(unescaped(text))

function withoutComments(text: string): string {
  let [bare, done] = ['', 0]
  for (let open = text.indexOf('/*'); open >= 0; open = text.indexOf('/*', done)) {
    const close = text.indexOf('*/', open + 2)
    if (close < 0) break
    bare += text.slice(done, open)
    done = close + 2
  }
  return bare + text.slice(done)
}

/** As browsers read it: without comments, escapes and case. */
function unescaped(text: string): string {
  const plain = withoutComments(text).replace(
    /\\(?:([0-9a-fA-F]{1,6})[ \t\n\r\f]?|([^\n]))/g,
    (_, hex?: string, char?: string) => {
      const code = hex ? Number.parseInt(hex, 16) : 0
      return char ?? (code > 0 && code < 0x11_00_00 ? String.fromCodePoint(code) : '')
    },
  )
  return plain.replace(/\s+/g, ' ').toLowerCase()
}
