import { useEffect, useRef, useState } from 'react'

type Formatted = (text: string) => Node

let loaded: Formatted | null = null

/** Text with Markdown. Until the parser is loaded, shows the source text. No part of it becomes raw HTML. */
export function Markdown({ text }: { text: string }) {
  const box = useRef<HTMLDivElement>(null)
  const [format, setFormat] = useState<Formatted | null>(() => loaded)
  useEffect(() => {
    if (format) return
    let isHere = true
    void import('../../shared/markdown').then(({ formatted }) => {
      loaded = formatted
      if (isHere) setFormat(() => formatted)
    })
    return () => {
      isHere = false
    }
  }, [format])
  useEffect(() => {
    box.current?.replaceChildren(format ? format(text) : document.createTextNode(text))
  }, [format, text])
  return <div className="markdown" ref={box} />
}
