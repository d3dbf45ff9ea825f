type Routed = { routes: readonly { method: string; path: string }[] }

/** Finds the methods that a path accepts, for 405 and `Allow` (contract 1.1). Built once from the finished app. */
export function createMethodTable(app: Routed): (path: string) => string[] {
  const exact = new Map<string, Set<string>>()
  const patterns = new Map<string, { shape: RegExp; methods: Set<string> }>()
  for (const { method, path } of app.routes) {
    if (path.includes(':')) {
      const known = patterns.get(path)
      if (known) known.methods.add(method)
      else patterns.set(path, { shape: toShape(path), methods: new Set([method]) })
    } else {
      exact.set(path, (exact.get(path) ?? new Set()).add(method))
    }
  }
  return (path) => {
    const methods = new Set(exact.get(path))
    for (const { shape, methods: more } of patterns.values()) {
      if (shape.test(path)) for (const method of more) methods.add(method)
    }
    if (methods.has('GET')) methods.add('HEAD')
    return [...methods].sort()
  }
}

const toShape = (path: string): RegExp =>
  new RegExp(`^${path.replace(/[.*+?^${}()|[\]\\]/g, '\\$&').replace(/:[A-Za-z]+\\?\??/g, '[^/]+')}$`)
