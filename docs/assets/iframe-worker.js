// Search for pages that are opened from a folder. Browsers refuse them a web worker, in which the theme searches, so this
// one lives in a hidden frame instead. The theme would fetch such a script from another site; nothing is fetched here.
if (location.protocol === "file:") {
  // What a script expects of a worker, said inside the frame. Scripts are loaded one after the other, as workers do.
  const inFrame = `
    postMessage = (data) => parent.dispatchEvent(new parent.MessageEvent("message", { data, source: window }));
    const load = (url) => new Promise((done) => {
      const script = document.createElement("script");
      script.src = url;
      script.onload = script.onerror = done;
      document.body.appendChild(script);
    });
    importScripts = (...urls) => urls.reduce((before, url) => before.then(() => load(url)), Promise.resolve());
  `;

  class FrameWorker extends EventTarget {
    constructor(url) {
      super();
      this.frame = document.createElement("iframe");
      this.frame.hidden = true;
      document.body.appendChild(this.frame);
      this.inside = this.frame.contentWindow;
      this.inside.document.open();
      this.inside.document.write(`<body><script>${inFrame}</script><script src="${url}"></script></body>`);
      this.inside.document.close();
      this.ready = this.untilComplete();
      this.listener = ({ source, data }) => {
        if (source === this.inside) this.dispatchEvent(new MessageEvent("message", { data }));
      };
      addEventListener("message", this.listener);
    }

    // A frame that is written to has no reliable event for its end, so look until the script of the worker is there.
    async untilComplete() {
      while (this.inside.document.readyState !== "complete") await new Promise((again) => setTimeout(again, 20));
    }

    // Messages wait for the frame, and keep their order.
    async postMessage(data) {
      await this.ready;
      this.inside.dispatchEvent(new this.inside.MessageEvent("message", { data }));
    }

    terminate() {
      removeEventListener("message", this.listener);
      this.frame.remove();
    }
  }

  // By the second name the theme's script knows that it is in a frame.
  window.Worker = window.IFrameWorker = FrameWorker;
}
