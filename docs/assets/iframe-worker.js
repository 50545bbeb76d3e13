// Browsers refuse `new Worker` on pages opened from disk, and the theme searches in a worker. There, and only there,
// run the worker's script in a hidden frame. (The theme would fetch such a script from the network; its file name
// must contain "iframe-worker" so that it does not.)
if (location.protocol === "file:") {
  window.IFrameWorker = window.Worker = class extends EventTarget {
    constructor(url) {
      super()
      this.frame = document.createElement("iframe")
      this.frame.hidden = true
      document.body.append(this.frame)
      const scope = this.frame.contentWindow
      const page = this.frame.contentDocument
      page.open()
      scope.postMessage = data => this.dispatchEvent(new MessageEvent("message", { data }))
      this.loaded = new Promise(resolve => scope.addEventListener("load", resolve, { once: true }))
      page.write(`<body><script src="${new URL(url, location.href)}"><\/script>`)
      page.close()
    }

    postMessage(data) {
      const scope = this.frame.contentWindow
      this.loaded.then(() => scope.dispatchEvent(new MessageEvent("message", { data })))
    }

    terminate() {
      this.frame.remove()
    }
  }
}
