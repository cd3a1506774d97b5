// On a wide screen the contents stand beside the text, so they are open from the start.
if (matchMedia("(min-width: 60rem)").matches) {
  document.querySelector(".contents details").open = true;
}

// A button beside each command that copies it. Without scripts, there is no button and nothing else is missing.
for (const block of document.querySelectorAll("pre[data-copy]")) {
  const button = document.createElement("button");
  button.type = "button";
  button.textContent = "Copy";
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(block.innerText);
      button.textContent = "Copied";
    } catch {
      getSelection().selectAllChildren(block);
      button.textContent = "Selected";
    }
    setTimeout(() => { button.textContent = "Copy"; }, 1500);
  });
  const frame = document.createElement("div");
  frame.className = "copy";
  block.replaceWith(frame);
  frame.append(block, button);
}
