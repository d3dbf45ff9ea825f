/** Draws a frame of the stream: four bytes of length, a header in JSON, and a JPEG. */
export async function draw(canvas: HTMLCanvasElement, data: ArrayBuffer): Promise<void> {
  const length = new DataView(data).getUint32(0)
  const { w, h } = JSON.parse(new TextDecoder().decode(new Uint8Array(data, 4, length))) as { w: number; h: number }
  const picture = await createImageBitmap(new Blob([new Uint8Array(data, 4 + length)], { type: 'image/jpeg' }))
  // The canvas has the size of the page, so that a place on it is a place on the page.
  if (canvas.width !== w || canvas.height !== h) [canvas.width, canvas.height] = [w, h]
  canvas.getContext('2d')?.drawImage(picture, 0, 0, w, h)
  picture.close()
}
